#include "server/connectors.h"

#include "connect/blackhole/blackhole_connector.h"
#include "connect/datagen/datagen_connector.h"
#include "connect/filesystem/filesystem_connector.h"
#include "connect/iceberg/iceberg_connector.h"
#include "connect/jdbc/jdbc_connector.h"
#include "connect/kafka/kafka_connector.h"
#include "connect/kafka/sink/upsert_kafka_connector.h"
#include "connect/print/print_connector.h"
#include "connect/redis/redis_connector.h"
#include "server/secret_connector.h"

namespace caudal {

std::span<const Connector* const> UserConnectors() {
  static const FilesystemConnector filesystem;
  static const IcebergConnector iceberg;
  static const JdbcConnector jdbc;
  static const KafkaConnector kafka;
  static const UpsertKafkaConnector upsert_kafka;
  static const RedisConnector redis;
  static const DatagenConnector datagen;
  static const PrintConnector print;
  static const BlackholeConnector blackhole;
  static const SecretConnector visible[] = {
      SecretConnector(&filesystem), SecretConnector(&iceberg),      SecretConnector(&jdbc),
      SecretConnector(&kafka),      SecretConnector(&upsert_kafka), SecretConnector(&redis),
      SecretConnector(&datagen),    SecretConnector(&print),        SecretConnector(&blackhole),
  };
  static const Connector* const list[] = {&visible[0], &visible[1], &visible[2], &visible[3], &visible[4],
                                          &visible[5], &visible[6], &visible[7], &visible[8]};
  return list;
}

}  // namespace caudal
