// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.access.guard.ClientRefusedException;
import io.smqtt.access.sql.SqlServer.SqlFailedException;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SqlAnswersTest {

    @ParameterizedTest
    @ValueSource(strings = {"22P02", "22003", "22021"})
    void aValueThatFitsNoColumnRefusesItsClient(String state) {
        SqlFailedException failure = failure(state);

        assertThat(SqlAnswers.refusalIfUnsuitable(failure))
                .isInstanceOf(ClientRefusedException.class)
                .hasMessage("a value of the client does not fit the query for its rules");
        assertThat(SqlAnswers.noneIfUnsuitable(failure).block()).isEmpty();
    }

    @Test
    void otherFailuresAreThoseOfTheDatabase() {
        SqlFailedException missing = failure("42P01");
        SqlFailedException unknown = failure(null);

        assertThat(SqlAnswers.refusalIfUnsuitable(missing)).isSameAs(missing);
        assertThat(SqlAnswers.refusalIfUnsuitable(unknown)).isSameAs(unknown);
        assertThat(SqlAnswers.noneIfUnsuitable(missing).materialize().block().getThrowable())
                .isSameAs(missing);
    }

    private static SqlFailedException failure(String state) {
        return new SqlFailedException(new SQLException("invalid input syntax for type integer: \"s3cret\"", state));
    }
}
