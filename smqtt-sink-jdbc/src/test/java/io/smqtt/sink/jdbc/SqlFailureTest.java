// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.BatchUpdateException;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqlFailureTest {

    @ParameterizedTest
    @CsvSource({
        "08006, 0, false", // connection
        "40001, 0, false", // serialization
        "40P01, 0, false", // deadlock
        "53100, 0, false", // disk full
        "57P01, 0, false", // shutdown
        "57014, 0, false", // cancelled
        "25006, 0, false", // read only
        "28P01, 0, false", // password
        "42P01, 0, false", // no table
        "42S02, 1146, false", // no table
        "42501, 0, false", // no right
        "42601, 0, false", // syntax
        "HY000, 1205, false", // lock wait
        "HY000, 1290, false", // read only
        "HY000, 0, false", // of the driver
        ", 0, false",
        "22P02, 0, true", // data
        "22001, 1406, true", // too long
        "23505, 0, true", // constraint
        "23000, 1062, true", // constraint
        "42804, 0, true", // type
        "54000, 0, true", // too large
        "P0001, 0, true", // trigger
        "45000, 1644, true", // trigger
        "HY000, 1366, true", // value of MySQL
    })
    void onlyFailuresThatARowCausesAreItsOwn(String state, int code, boolean ofRow) {
        assertThat(SqlFailure.of(new SQLException("reason", state, code)).ofRow())
                .isEqualTo(ofRow);
    }

    @Test
    void reasonHasNoValueOfARow() {
        SQLException first = new SQLException("invalid input syntax for type integer: \"s3cret\"", "22P02");
        BatchUpdateException batch = new BatchUpdateException(
                "Batch entry 0 INSERT INTO t VALUES ('s3cret') was aborted", "22P02", 0, new int[0], first);
        batch.setNextException(first);

        assertThat(SqlFailure.of(batch).reason())
                .isEqualTo("SQL state 22P02: invalid input syntax for type integer: …");
        assertThat(SqlFailure.of(new SQLException("Duplicate entry 's3cret' for key 'PRIMARY'", "23000", 1062))
                        .reason())
                .isEqualTo("SQL state 23000: Duplicate entry …");
        assertThat(SqlFailure.of(new SQLException("relation \"readings\" does not exist", "42P01"))
                        .reason())
                .isEqualTo("SQL state 42P01: relation \"readings\" does not exist");
    }
}
