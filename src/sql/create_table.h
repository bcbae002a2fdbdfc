// CREATE TABLE and CREATE VIEW: syntax tree to what the catalog keeps.
#pragma once

#include "api/catalog.h"
#include "base/status.h"
#include "sql/parse/ast_statement.h"
#include "sql/parse/source_text.h"

namespace caudal::sql {

// Columns, computed columns, watermark, key and options resolved and checked; LIKE merged in.
Result<Table> BindCreateTable(const CreateTable& create, const Catalog& catalog, const SourceText& source);

// The query is bound once to find its faults now; the view keeps its text.
Result<View> BindCreateView(const CreateView& create, const Catalog& catalog, const SourceText& source);

}  // namespace caudal::sql
