// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.rules.sink.RowTemplate;
import java.lang.reflect.Proxy;
import java.math.BigInteger;
import java.sql.PreparedStatement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BoundStatementTest {

    @Test
    void placeholdersBecomeParametersWithTheTypesOfTheirValues() throws Exception {
        BoundStatement statement = parse(
                "INSERT INTO t VALUES (${text}, ${whole}, ${big}, ${part}, ${yes}, ${no.such}, ${map}, ${map.a[2]}, ${bytes}, ${.})");
        Map<String, Object> row = new HashMap<>();
        row.put("text", "'); DROP TABLE t; --");
        row.put("whole", 7L);
        row.put("big", new BigInteger("99999999999999999999"));
        row.put("part", 1.5);
        row.put("yes", true);
        row.put("map", Map.of("a", List.of(1L, 2L)));
        row.put("bytes", new byte[] {(byte) 0xff});

        List<String> bound = bound(statement, row);

        assertThat(statement.text()).isEqualTo("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        assertThat(bound)
                .startsWith(
                        "setString 1 '); DROP TABLE t; --",
                        "setLong 2 7",
                        "setBigDecimal 3 99999999999999999999",
                        "setDouble 4 1.5",
                        "setBoolean 5 true",
                        "setNull 6 0",
                        "setString 7 {\"a\":[1,2]}",
                        "setLong 8 2");
        assertThat(bound.get(8)).startsWith("setBytes 9 ");
        assertThat(bound.get(9)).startsWith("setString 10 {").contains("\"whole\":7");
    }

    private static List<String> bound(BoundStatement statement, Map<String, Object> row) throws Exception {
        List<String> calls = new ArrayList<>();
        PreparedStatement prepared = (PreparedStatement) Proxy.newProxyInstance(
                BoundStatementTest.class.getClassLoader(),
                new Class<?>[] {PreparedStatement.class},
                (proxy, method, arguments) ->
                        calls.add(method.getName() + ' ' + arguments[0] + ' ' + arguments[1]) ? null : null);
        statement.bind(prepared, row);
        return calls;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "POSTGRESQL | INSERT INTO t VALUES ('${a}') | has ${a} inside of quotes",
                "POSTGRESQL | INSERT INTO t VALUES ('it''s ${a}') | inside of quotes",
                "POSTGRESQL | INSERT INTO t VALUES (E'\\' ${a}') | inside of quotes",
                "POSTGRESQL | INSERT INTO \"t${a}\" VALUES (1) | inside of quotes",
                "POSTGRESQL | INSERT /* ${a} */ INTO t | inside of quotes or a comment",
                "POSTGRESQL | INSERT INTO t -- ${a} | inside of quotes or a comment",
                "POSTGRESQL | SELECT $$ ${a} $$ | inside of quotes",
                "POSTGRESQL | SELECT $t1$ $$ ${a} $t1$ | inside of quotes",
                "MARIADB | INSERT INTO t VALUES (\"${a}\") | inside of quotes",
                "MARIADB | INSERT INTO t VALUES ('a\\' ${a}') | inside of quotes",
                "MARIADB | INSERT INTO `${a}` VALUES (1) | inside of quotes",
                "MARIADB | INSERT INTO t # ${a} | inside of quotes or a comment",
                "POSTGRESQL | INSERT INTO t VALUES (?, ${a}) | has a ?",
                "POSTGRESQL | INSERT INTO t VALUES ('a, ${a}) | has ' that is not closed",
                "MARIADB | INSERT INTO `t VALUES (${a}) | has ` that is not closed",
                "MARIADB | INSERT /* INTO t VALUES (${a}) | has /* that is not closed",
                "POSTGRESQL | ~ ~ | is empty",
            })
    void statementsThatWouldMeanSomethingElseAreRefused(Dialect dialect, String text, String problem) {
        assertThatThrownBy(() -> BoundStatement.parse(text, dialect, RowTemplate::parse))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(problem);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "POSTGRESQL | VALUES ('?', ${a}) | VALUES ('?', ?)",
                "POSTGRESQL | VALUES ('it''s', ${a}) | VALUES ('it''s', ?)",
                "POSTGRESQL | VALUES ('a\\', ${a}) | VALUES ('a\\', ?)",
                "POSTGRESQL | VALUES ($$ it's $$, ${a}) | VALUES ($$ it's $$, ?)",
                "POSTGRESQL | VALUES (${a}, 'x') -- it's | VALUES (?, 'x') -- it's",
                "POSTGRESQL | VALUES (${a}::jsonb, a$b) | VALUES (?::jsonb, a$b)",
                "MARIADB | VALUES ('a\\'', ${a}) /* ' */ | VALUES ('a\\'', ?) /* ' */",
                "MARIADB | INSERT INTO `a'b` VALUES (${a}) | INSERT INTO `a'b` VALUES (?)",
            })
    void quotesAndCommentsStay(Dialect dialect, String text, String expected) {
        assertThat(BoundStatement.parse(text, dialect, RowTemplate::parse).text())
                .isEqualTo(expected);
    }

    private static BoundStatement parse(String text) {
        return BoundStatement.parse(text, Dialect.POSTGRESQL, RowTemplate::parse);
    }
}
