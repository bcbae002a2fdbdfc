// Names of tables in a statement, resolved: one part stands for a table of the current database, two for
// one of the current catalog, three say all.
//
// Functions; the catalog and the text are borrowed.
#pragma once

#include <string>

#include "api/catalog.h"
#include "base/status.h"
#include "sql/parse/ast_query.h"
#include "sql/parse/source_text.h"

namespace caudal::sql {

// User error for a catalog that there is not, and for a database of the session's own catalog. Nobody outside
// is asked. `current`: of the view that the name stands in; null: of the session.
Result<ObjectPath> ResolvePath(const ObjectName& name, const Catalog& catalog, const SourceText& source,
                               const CurrentDatabase* current = nullptr);
// The same for the name of a database: [catalog.]database, whose path has no name.
Result<ObjectPath> ResolveDatabase(const ObjectName& name, const Catalog& catalog, const SourceText& source);

bool IsOutside(const ObjectPath& path);
// What Catalog has the table or view under.
std::string NameInCatalog(const ObjectPath& path);

// The two above, for a table that is to be found: one of a catalog outside is loaded. Its absence is no
// error.
Result<std::string> TableName(const ObjectName& name, const Catalog& catalog, const SourceText& source,
                              const CurrentDatabase* current = nullptr);

// "unknown table 't'", with what was meant if that can be told.
Status UnknownTable(const ObjectName& name, const std::string& resolved, const Catalog& catalog,
                    const SourceText& source);
Status UnknownCatalog(const Name& name, const Catalog& catalog, const SourceText& source);

}  // namespace caudal::sql
