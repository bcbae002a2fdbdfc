// JdbcTable: whether the table in the database is one that a sink's rows fit.
//
// Free functions; the thread that owns the connection.
#pragma once

#include "base/status.h"
#include "connect/jdbc/jdbc_target.h"
#include "db/sqlite.h"
#include "fs/file_system.h"

namespace caudal {

// User error: no such table, a column that it lacks, no unique key where the declaration has one.
Status CheckTable(const JdbcTarget& target, Sqlite* database);

// The same for a database that may not be there yet, which is not touched. User error if it has to be and is
// not.
Status CheckDatabase(const JdbcTarget& target, FileSystem* files);

}  // namespace caudal
