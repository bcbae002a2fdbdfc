ADD JAR 'x'
