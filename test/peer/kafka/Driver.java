import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ElectionNotNeededException;
import org.apache.kafka.common.serialization.*;

/**
 * Kafka's own client, told what to do by lines on standard input: a command and its words, separated by tabs. Answers each with one
 * line, "ok" or "error" and words, separated by tabs. "\N" stands for null.
 */
public class Driver {
  static String bootstrap;
  static Admin admin;
  static Producer<byte[], byte[]> plain;
  static final Map<String, Producer<byte[], byte[]>> transactional = new HashMap<>();

  public static void main(String[] arguments) throws Exception {
    bootstrap = arguments[0];
    admin = Admin.create(Map.of("bootstrap.servers", bootstrap, "default.api.timeout.ms", "30000"));
    plain = producer(null);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    System.out.println("ok");
    for (String line; (line = in.readLine()) != null; ) {
      try {
        String answer = obey(line.split("\t", -1));
        System.out.println(answer.isEmpty() ? "ok" : "ok\t" + answer);
      } catch (Throwable error) {
        Throwable cause = error.getCause() == null ? error : error.getCause();
        System.out.println("error\t" + cause.toString().replaceAll("\\s+", " "));
      }
      System.out.flush();
    }
    System.exit(0);
  }

  static Producer<byte[], byte[]> producer(String transactionalId) {
    Map<String, Object> properties = new HashMap<>(Map.of("bootstrap.servers", bootstrap, "acks", "all", "linger.ms", "5"));
    if (transactionalId != null) properties.put("transactional.id", transactionalId);
    return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
  }

  static byte[] bytes(String text) {
    return text.equals("\\N") ? null : text.getBytes(StandardCharsets.UTF_8);
  }

  static String obey(String[] words) throws Exception {
    switch (words[0]) {
      case "create" -> { // topic, partitions, key=value…
        Map<String, String> config = new HashMap<>();
        for (int i = 3; i < words.length; ++i) config.put(words[i].split("=")[0], words[i].split("=")[1]);
        NewTopic topic = new NewTopic(words[1], Optional.of(Integer.parseInt(words[2])), Optional.empty()).configs(config);
        admin.createTopics(List.of(topic)).all().get();
        while (!hasLeaders(words[1])) Thread.sleep(20);
        return "";
      }
      case "delete" -> { // topic
        admin.deleteTopics(List.of(words[1])).all().get();
        return "";
      }
      case "partitions" -> { // topic, how many it shall have
        admin.createPartitions(Map.of(words[1], NewPartitions.increaseTo(Integer.parseInt(words[2])))).all().get();
        return "";
      }
      case "truncate" -> { // topic, partition, the offset that shall be the first
        admin.deleteRecords(Map.of(partition(words), RecordsToDelete.beforeOffset(Long.parseLong(words[3])))).all().get();
        return "";
      }
      case "configure" -> { // topic, key, value
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, words[1]);
        AlterConfigOp set = new AlterConfigOp(new ConfigEntry(words[2], words[3]), AlterConfigOp.OpType.SET);
        admin.incrementalAlterConfigs(Map.of(resource, List.of(set))).all().get();
        return "";
      }
      case "put" -> { // topic, partition, key, value, timestamp or nothing, headers as name=value…
        Long time = words.length > 5 && !words[5].isEmpty() ? Long.parseLong(words[5]) : null;
        ProducerRecord<byte[], byte[]> record =
            new ProducerRecord<>(words[1], Integer.parseInt(words[2]), time, bytes(words[3]), bytes(words[4]));
        for (int i = 6; i < words.length; ++i) {
          int at = words[i].indexOf('=');
          record.headers().add(words[i].substring(0, at), bytes(words[i].substring(at + 1)));
        }
        plain.send(record).get();
        return "";
      }
      case "numbers" -> { // topic, partition, from, to, timestamp of the first: {"n": from} and so on, a millisecond apart
        acknowledge(plain, numbers(plain, words));
        return "";
      }
      case "transaction" -> { // topic, partition, from, to, commit|abort|open
        Producer<byte[], byte[]> producer = transactional.computeIfAbsent("driver", id -> {
          Producer<byte[], byte[]> made = producer(id);
          made.initTransactions();
          return made;
        });
        producer.beginTransaction();
        acknowledge(producer, numbers(producer, new String[] {"", words[1], words[2], words[3], words[4]}));
        if (!words[5].equals("open")) end(producer, words[5]);
        return "";
      }
      case "end" -> { // commit|abort: the transaction that was left open
        end(transactional.get("driver"), words[1]);
        return "";
      }
      case "last" -> { // topic, partition: its last value that committed records have
        return last(partition(words));
      }
      case "ends" -> { // topic: partition:begin:end …
        return ends(words[1]);
      }
      case "committed" -> { // group: topic-partition:offset …
        TreeMap<String, Long> offsets = new TreeMap<>();
        admin.listConsumerGroupOffsets(words[1]).partitionsToOffsetAndMetadata().get().forEach((at, offset) -> {
          if (offset != null) offsets.put(at.toString(), offset.offset());
        });
        StringJoiner joined = new StringJoiner("\t");
        offsets.forEach((at, offset) -> joined.add(at + ":" + offset));
        return joined.toString();
      }
      case "commit" -> { // topic, partition, offset, group
        admin.alterConsumerGroupOffsets(words[4], Map.of(partition(words), new OffsetAndMetadata(Long.parseLong(words[3])))).all().get();
        return "";
      }
      case "transactions" -> { // ids of those that are open or half-ended
        StringJoiner joined = new StringJoiner("\t");
        for (TransactionListing each : admin.listTransactions().all().get()) {
          boolean settled = each.state() == TransactionState.EMPTY || each.state() == TransactionState.COMPLETE_COMMIT
              || each.state() == TransactionState.COMPLETE_ABORT;
          if (!settled) joined.add(each.transactionalId() + ":" + each.state());
        }
        return joined.toString();
      }
      case "coordinators" -> { // id:broker of each transactional id
        List<String> ids = new ArrayList<>();
        admin.listTransactions().all().get().forEach(each -> ids.add(each.transactionalId()));
        StringJoiner joined = new StringJoiner("\t");
        admin.describeTransactions(ids).all().get().forEach((id, found) -> joined.add(id + ":" + found.coordinatorId()));
        return joined.toString();
      }
      case "lead" -> { // topic, broker: that leads all its partitions from now on
        lead(words[1], Integer.parseInt(words[2]));
        return "";
      }
      case "replicas" -> { // topic, broker…: that have all its partitions, the first as the leader
        List<Integer> brokers = Arrays.stream(words).skip(2).map(Integer::parseInt).toList();
        move(words[1], info -> brokers);
        return "";
      }
      case "unclean" -> { // topic, broker: that leads partition 0 though it lacks records
        TopicPartition at = new TopicPartition(words[1], 0);
        admin.electLeaders(ElectionType.UNCLEAN, Set.of(at)).partitions().get();
        var leader = admin.describeTopics(List.of(words[1])).allTopicNames().get().get(words[1]).partitions().get(0).leader();
        if (leader == null || leader.id() != Integer.parseInt(words[2])) throw new IllegalStateException("led by " + leader);
        return "";
      }
      case "scram" -> { // user, 256|512, password
        ScramMechanism mechanism = ScramMechanism.fromMechanismName("SCRAM-SHA-" + words[2]);
        admin.alterUserScramCredentials(List.of(
            new UserScramCredentialUpsertion(words[1], new ScramCredentialInfo(mechanism, 4096), words[3]))).all().get();
        return "";
      }
      case "place" -> { // partitions, keys…: where a record of each key is put
        StringJoiner joined = new StringJoiner("\t");
        for (int i = 2; i < words.length; ++i) {
          joined.add(String.valueOf(BuiltInPartitioner.partitionForKey(bytes(words[i]), Integer.parseInt(words[1]))));
        }
        return joined.toString();
      }
      case "dump" -> { // topic, file: topic[partition], offset, key, value in base64, headers as name=value,… in base64
        return dump(words[1], Path.of(words[2]));
      }
      default -> throw new IllegalArgumentException("no command '" + words[0] + "'");
    }
  }

  static void end(Producer<byte[], byte[]> producer, String how) {
    if (how.equals("commit")) {
      producer.commitTransaction();
    } else {
      producer.abortTransaction();
    }
  }

  static boolean hasLeaders(String topic) throws Exception {
    try {
      return admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().stream().allMatch(
          info -> info.leader() != null && !info.leader().isEmpty());
    } catch (java.util.concurrent.ExecutionException error) {
      if (error.getCause() instanceof org.apache.kafka.common.errors.UnknownTopicOrPartitionException) return false;
      throw error;
    }
  }

  /** The broker becomes the preferred one of its replicas, and is elected. */
  static void lead(String topic, int broker) throws Exception {
    move(topic, info -> {
      List<Integer> replicas = new ArrayList<>(List.of(broker));
      info.replicas().forEach(node -> {
        if (node.id() != broker) replicas.add(node.id());
      });
      return replicas;
    });
  }

  static void move(String topic, Function<TopicPartitionInfo, List<Integer>> replicas) throws Exception {
    Map<TopicPartition, Optional<NewPartitionReassignment>> order = new HashMap<>();
    for (var info : admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions()) {
      order.put(new TopicPartition(topic, info.partition()), Optional.of(new NewPartitionReassignment(replicas.apply(info))));
    }
    admin.alterPartitionReassignments(order).all().get();
    while (!admin.listPartitionReassignments(order.keySet()).reassignments().get().isEmpty()) Thread.sleep(50);
    for (Optional<Throwable> error : admin.electLeaders(ElectionType.PREFERRED, order.keySet()).partitions().get().values()) {
      if (error.isPresent() && !(error.get() instanceof ElectionNotNeededException)) throw new Exception(error.get());
    }
  }

  static TopicPartition partition(String[] words) {
    return new TopicPartition(words[1], Integer.parseInt(words[2]));
  }

  /** No record is left out in silence: whoever counts rows counts on all of them. */
  static void acknowledge(Producer<byte[], byte[]> producer, List<Future<RecordMetadata>> sent) throws Exception {
    producer.flush();
    for (Future<RecordMetadata> each : sent) each.get();
  }

  static List<Future<RecordMetadata>> numbers(Producer<byte[], byte[]> producer, String[] words) {
    long from = Long.parseLong(words[3]), to = Long.parseLong(words[4]);
    Long time = words.length > 5 ? Long.parseLong(words[5]) : null;
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    for (long n = from; n < to; ++n) {
      sent.add(producer.send(new ProducerRecord<>(words[1], Integer.parseInt(words[2]), time == null ? null : time + n - from,
          bytes("k" + n), bytes("{\"n\":" + n + "}"))));
    }
    return sent;
  }

  static String ends(String topic) throws Exception {
    Map<TopicPartition, OffsetSpec> first = new HashMap<>(), last = new HashMap<>();
    TreeMap<Integer, TopicPartition> partitions = new TreeMap<>();
    admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().forEach(
        info -> partitions.put(info.partition(), new TopicPartition(topic, info.partition())));
    for (TopicPartition at : partitions.values()) {
      first.put(at, OffsetSpec.earliest());
      last.put(at, OffsetSpec.latest());
    }
    var begins = admin.listOffsets(first).all().get();
    var ends = admin.listOffsets(last).all().get();
    StringJoiner joined = new StringJoiner("\t");
    for (TopicPartition at : partitions.values()) {
      joined.add(at.partition() + ":" + begins.get(at).offset() + ":" + ends.get(at).offset());
    }
    return joined.toString();
  }

  static String last(TopicPartition at) throws Exception {
    Map<String, Object> properties = Map.of("bootstrap.servers", bootstrap, "isolation.level", "read_committed");
    try (KafkaConsumer<byte[], byte[]> consumer =
            new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      consumer.assign(List.of(at));
      consumer.seek(at, Math.max(0, consumer.endOffsets(List.of(at)).get(at) - 1));
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(10))) {
        return new String(record.value(), StandardCharsets.UTF_8);
      }
      throw new IllegalStateException("no record in " + at);
    }
  }

  static String base64(byte[] bytes) {
    return bytes == null ? "\\N" : Base64.getEncoder().encodeToString(bytes);
  }

  static String dump(String topic, Path file) throws Exception {
    Map<String, Object> properties = Map.of("bootstrap.servers", bootstrap, "isolation.level", "read_committed",
        "max.poll.records", "10000", "enable.auto.commit", "false");
    long count = 0;
    try (KafkaConsumer<byte[], byte[]> consumer =
            new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        BufferedWriter out = Files.newBufferedWriter(file)) {
      List<TopicPartition> all = consumer.partitionsFor(topic).stream().map(info -> new TopicPartition(topic, info.partition())).toList();
      consumer.assign(all);
      consumer.seekToBeginning(all);
      Map<TopicPartition, Long> ends = consumer.endOffsets(all);
      while (all.stream().anyMatch(at -> consumer.position(at) < ends.get(at))) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
          ++count;
          StringJoiner headers = new StringJoiner(",");
          record.headers().forEach(header -> headers.add(header.key() + "=" + base64(header.value())));
          out.write(topic + "[" + record.partition() + "]\t" + record.offset() + "\t"
              + (record.key() == null ? "\\N" : new String(record.key(), StandardCharsets.UTF_8)) + "\t"
              + base64(record.value()) + "\t" + headers + "\n");
        }
      }
    }
    return Long.toString(count);
  }
}
