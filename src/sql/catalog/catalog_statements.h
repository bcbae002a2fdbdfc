// CatalogStatements: CREATE, DROP and USE of catalogs and databases, and of tables that catalogs outside
// keep.
//
// Each changes the session's Catalog, or what is outside, at once. Borrows both arguments; one thread.
#pragma once

#include "api/catalog.h"
#include "base/status.h"
#include "sql/parse/ast_statement.h"
#include "sql/parse/source_text.h"
#include "sql/session.h"

namespace caudal::sql {

class CatalogStatements {
 public:
  CatalogStatements(Catalog* catalog, const SourceText& source) : catalog_(*catalog), source_(source) {}

  Result<StatementDone> Execute(const CreateCatalog& create);
  Result<StatementDone> Execute(const DropCatalog& drop);
  Result<StatementDone> Execute(const CreateDatabase& create);
  Result<StatementDone> Execute(const DropDatabase& drop);
  Result<StatementDone> Execute(const UseCatalog& use);
  Result<StatementDone> Execute(const UseDatabase& use);
  Result<StatementDone> Execute(const AlterTable& alter);  // alter_table.cc
  // REQUIRES: the name is of a catalog outside, and nothing temporary is meant; in both.
  Result<StatementDone> Execute(const CreateTable& create);
  Result<StatementDone> Execute(const DropObject& drop);

 private:
  ExternalCatalogs& externals() const { return catalog_.externals(); }
  Status Fail(SourceRange range, std::string message) const {
    return ErrorAt(source_, range, std::move(message));
  }
  // An error of the outside world, at the name that it is about.
  Status AtName(Status status, SourceRange range) const {
    return status.ok() ? status : std::move(status).At(source_.Frame(range));
  }
  Result<bool> HasTable(const ObjectPath& path, SourceRange range) const;
  Status CheckDatabase(const ObjectPath& path, SourceRange range) const;
  Result<TableChange> BindColumn(const AlterTable::Column& column, bool add) const;
  Result<std::vector<TableChange>> BindChange(const AlterTable::Change& change) const;

  Catalog& catalog_;
  const SourceText& source_;
};

}  // namespace caudal::sql
