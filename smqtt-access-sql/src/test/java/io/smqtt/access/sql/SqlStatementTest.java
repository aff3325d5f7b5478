// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.access.backend.Template.Scope;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqlStatementTest {

    private static final List<String> ACL = List.of("username", "access");

    @Test
    void placeholdersBecomeBindParameters() {
        SqlStatement statement = SqlStatement.emqx(
                "SELECT password_hash, salt FROM mqtt_user WHERE username = ${username} AND (c=${clientid} OR c=${username}) LIMIT 1",
                Dialect.POSTGRESQL,
                Scope.USER);

        assertThat(statement.text())
                .isEqualTo("SELECT password_hash, salt FROM mqtt_user WHERE username = ? AND (c=? OR c=?) LIMIT 1");
        assertThat(statement.names()).containsExactly("username", "clientid", "username");
        assertThat(statement.values(name -> name.equals("clientid") ? "' OR 1=1 --" : null))
                .containsExactly(null, "' OR 1=1 --", null);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "POSTGRESQL | SELECT 1 WHERE u = '${username}' | inside of quotes",
                "POSTGRESQL | SELECT 1 WHERE u = 'it''s ${username}' | inside of quotes",
                "POSTGRESQL | SELECT 1 WHERE u = E'\\' ${username}' | inside of quotes",
                "POSTGRESQL | SELECT 1 FROM \"t${username}\" | inside of quotes",
                "POSTGRESQL | SELECT 1 /* ${username} */ | inside of quotes or a comment",
                "POSTGRESQL | SELECT 1 -- ${username} | inside of quotes or a comment",
                "POSTGRESQL | SELECT $$ ${username} $$ | inside of quotes",
                "POSTGRESQL | SELECT $t1$ $$ ${username} $t1$ | inside of quotes",
                "MARIADB | SELECT 1 WHERE u = \"${username}\" | inside of quotes",
                "MARIADB | SELECT 1 WHERE u = 'a\\' ${username}' | inside of quotes",
                "MARIADB | SELECT 1 FROM `${username}` | inside of quotes",
                "MARIADB | SELECT 1 # ${username} | inside of quotes or a comment",
                "POSTGRESQL | SELECT 1 WHERE u = ? AND v = ${username} | has a ?",
                "POSTGRESQL | SELECT 1 WHERE u = ${user} | has the placeholder ${user}; known are",
                "POSTGRESQL | SELECT 1 WHERE u = ${username | without }",
                "POSTGRESQL | SELECT 1 WHERE u = ${topic} | that has no value here",
                "POSTGRESQL | SELECT 1 WHERE u = $1 | has no parameter",
                "POSTGRESQL | SELECT 1 | has no parameter",
            })
    void statementsThatWouldMeanSomethingElseAreRejected(Dialect dialect, String text, String problem) {
        assertThatThrownBy(() -> SqlStatement.emqx(text, dialect, Scope.USER))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(problem);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "POSTGRESQL | SELECT '?' WHERE u = ${username} | SELECT '?' WHERE u = ?",
                "POSTGRESQL | SELECT 'it''s' WHERE u = ${username} | SELECT 'it''s' WHERE u = ?",
                "POSTGRESQL | SELECT 'a\\' WHERE u = ${username} | SELECT 'a\\' WHERE u = ?",
                "POSTGRESQL | SELECT $$'$$ WHERE u = ${username} | SELECT $$'$$ WHERE u = ?",
                "POSTGRESQL | SELECT /* ' */ 1 WHERE u = ${username} | SELECT /* ' */ 1 WHERE u = ?",
                "POSTGRESQL | SELECT 1 - 2 / 3 # 4 WHERE u = ${username} | SELECT 1 - 2 / 3 # 4 WHERE u = ?",
                "POSTGRESQL | SELECT 1 WHERE u = ${username}::text | SELECT 1 WHERE u = ?::text",
                "MARIADB | SELECT \"a\\\"\" WHERE u = ${username} | SELECT \"a\\\"\" WHERE u = ?",
                "MARIADB | SELECT `'` WHERE u = ${username} | SELECT `'` WHERE u = ?",
            })
    void quotesAndCommentsElsewhereAreKept(Dialect dialect, String text, String expected) {
        assertThat(SqlStatement.emqx(text, dialect, Scope.USER).text()).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "SELECT topic FROM acl WHERE u = $1 AND rw >= $2 | SELECT topic FROM acl WHERE u = ? AND rw >= ? | username,access",
                "SELECT topic FROM acl WHERE u = ? AND rw >= ? | SELECT topic FROM acl WHERE u = ? AND rw >= ? | username,access",
                "SELECT t FROM acl WHERE rw = $2 AND u = $1 OR rw=$2 | SELECT t FROM acl WHERE rw = ? AND u = ? OR rw=? | access,username,access",
                "SELECT t FROM acl WHERE x = '$1 ?' AND u = $1 | SELECT t FROM acl WHERE x = '$1 ?' AND u = ? | username",
            })
    void parametersOfGoAuth(String text, String expected, String names) {
        SqlStatement statement = SqlStatement.goAuth(text, Dialect.POSTGRESQL, ACL);

        assertThat(statement.text()).isEqualTo(expected);
        assertThat(String.join(",", statement.names())).isEqualTo(names);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "SELECT 1 WHERE u = $3 | has more parameters than 2",
                "SELECT 1 WHERE u = $0 | has more parameters than 2",
                "SELECT 1 WHERE u = $99999999999 | has more parameters than 2",
                "SELECT 1 WHERE u = ? AND a = ? AND b = ? | has more parameters than 2",
                "SELECT 1 WHERE u = '$1' | has no parameter",
                "SELECT 1 WHERE u = ${username} | has a placeholder",
            })
    void wrongParametersOfGoAuth(String text, String problem) {
        assertThatThrownBy(() -> SqlStatement.goAuth(text, Dialect.POSTGRESQL, ACL))
                .hasMessageContaining(problem);
    }

    /** Whatever the text is: as many parameters as values, and nothing but fixed text of the operator beside them. */
    @Test
    void randomTextsAreReadOrRejected() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        String[] pieces = {
            "'",
            "\"",
            "`",
            "--",
            "/*",
            "*/",
            "\n",
            "#",
            "$$",
            "$t$",
            "$1",
            "?",
            "\\",
            "E'",
            "a",
            " ",
            "${username}",
            "${",
            "}"
        };
        int read = 0;
        for (int i = 0; i < 5_000; i++) {
            StringBuilder text = new StringBuilder();
            for (int j = random.nextInt(12); j >= 0; j--) {
                text.append(pieces[random.nextInt(pieces.length)]);
            }
            for (Dialect dialect : Dialect.values()) {
                try {
                    SqlStatement statement = SqlStatement.emqx(text.toString(), dialect, Scope.USER);
                    int kept = text.toString()
                            .replace("${username}", "")
                            .replaceAll("[^?]", "")
                            .length();
                    assertThat(statement.text().replaceAll("[^?]", ""))
                            .as("seed %d: %s", seed, text)
                            .hasSize(statement.names().size() + kept);
                    assertThat(statement.text()).doesNotContain("${");
                    read++;
                } catch (IllegalArgumentException e) {
                    assertThat(e.getMessage()).as("seed %d: %s", seed, text).matches("(?s)(has|is) .*");
                }
            }
        }
        assertThat(read).isPositive();
    }
}
