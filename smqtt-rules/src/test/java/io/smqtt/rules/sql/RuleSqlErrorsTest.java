// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Statements that are not valid are refused with the place of the mistake. */
class RuleSqlErrorsTest {

    private static RuleSqlException error(String sql) {
        RuleSqlException error = catchThrowableOfType(RuleSqlException.class, () -> RuleSql.compile(sql));
        assertThat(error).as(sql).isNotNull();
        return error;
    }

    @Test
    void aCaretStandsBelowTheMistake() {
        assertThat(error("SELECT clientid\nFORM \"t/#\"").text()).isEqualTo("""
                        line 2, column 1: unexpected 'FORM'; expected is FROM
                        FORM "t/#"
                        ^""");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "SELECT FROM \"t/#\"           | 8  | unexpected 'FROM'; expected is a value (a field, a number, text in quotation marks, a function) or '*'",
                "SELECT a                      | 9  | the statement ends here; expected is FROM",
                "SELECT a FROM t               | 15 | unexpected 't'; expected is text in quotation marks",
                "SELECT a FROM 't' WHERE       | 24 | the statement ends here; expected is a value (a field, a number, text in quotation marks, a function)",
                "SELECT a FROM 't             | 15 | the text that begins here has no closing quotation mark",
                "SELECT upper() FROM 't'       | 8  | upper(text) does not have 0 arguments",
                "SELECT uper(a) FROM 't'       | 8  | there is no function uper; did you mean upper?",
                "SELECT jq('.', payload) FROM 't' | 8 | the function jq is not supported: jq programs are not supported; paths, CASE and FOREACH do most of it",
                "SELECT regex_match(a, '(') FROM 't' | 8 | regex_match: not a regular expression: missing closing )",
                "SELECT a FROM ''              | 15 | a topic filter or event must not be empty",
                "FOREACH a, b DO c FROM 't'    | 9  | only the last expression of FOREACH, which is the array, may be without AS",
                "UPDATE a SET b = 1            | 1  | unexpected 'UPDATE'; expected is SELECT or FOREACH",
            })
    void mistakesAreNamedWithTheirColumn(String sql, int column, String message) {
        RuleSqlException error = error(sql.strip());

        assertThat(error.getMessage()).isEqualTo(message.strip());
        assertThat(error.line()).isEqualTo(1);
        assertThat(error.column()).isEqualTo(column);
    }

    @ParameterizedTest
    @ValueSource(strings = {"(", "[", "-(", "NOT (", "CASE WHEN ", "{'a':", "abs("})
    void deepNestingIsRefused(String part) {
        assertThatExceptionOfType(RuleSqlException.class)
                .isThrownBy(() -> RuleSql.compile("SELECT " + part.repeat(4_000) + "1 FROM 't'"));
    }

    @Test
    void longStatementsAreRefused() {
        assertThat(error("SELECT 1" + " + 1".repeat(3_000) + " FROM 't'").getMessage())
                .isEqualTo("the statement has more than 5000 words");
        assertThat(error("SELECT '" + "a".repeat(40_000) + "' FROM 't'").getMessage())
                .isEqualTo("the statement has more than 32768 characters");
    }
}
