#include "fs/s3/s3_xml.h"

#include <gtest/gtest.h>

namespace caudal {
namespace {

TEST(S3XmlTest, TakesElementsAndTheirTextApart) {
  const Result<XmlElement> xml = ParseXml(
      "<?xml version=\"1.0\"?>\n<!-- a <b> --><n:Root xmlns:n=\"x\"><Key>a &amp; b&#x20AC;&#33;</Key><Empty/>"
      "<Raw><![CDATA[<&>]]></Raw><Key>second</Key></n:Root>");
  ASSERT_TRUE(xml.ok());
  EXPECT_EQ(xml->name, "Root");
  EXPECT_EQ(xml->Text("Key"), "a & b\xE2\x82\xAC!");
  EXPECT_EQ(xml->Text("Raw"), "<&>");
  EXPECT_EQ(xml->children.size(), 4u);
  EXPECT_EQ(xml->Find("None"), nullptr);
}

TEST(S3XmlTest, WhatIsCutOrNoXmlIsToldAtEveryLength) {
  const std::string whole = "<A><B>x&amp;y</B><!-- c --><C/></A>";
  EXPECT_TRUE(ParseXml(whole).ok());
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(ParseXml(whole.substr(0, size)).ok()) << size;
  EXPECT_FALSE(ParseXml("<A></B>").ok());
  EXPECT_FALSE(ParseXml("<A>&what;</A>").ok());
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<A>";
  EXPECT_FALSE(ParseXml(deep).ok());
}

}  // namespace
}  // namespace caudal
