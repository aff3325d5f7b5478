// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.sql;

import io.smqtt.access.guard.ClientRefusedException;
import java.util.List;
import reactor.core.publisher.Mono;

/** The meaning of failures that a client can cause. */
final class SqlAnswers {

    private SqlAnswers() {}

    /** {@return no rows if a value of the client fits no row, else the failure} */
    static Mono<List<SqlRow>> noneIfUnsuitable(SqlServer.SqlFailedException failure) {
        return failure.isUnsuitableValue() ? Mono.just(List.of()) : Mono.error(failure);
    }

    /**
     * {@return a refusal of the client if one of its values fits no row, else the failure} Without rows there would be no rules, also none
     * that deny.
     */
    static Throwable refusalIfUnsuitable(SqlServer.SqlFailedException failure) {
        return failure.isUnsuitableValue()
                ? new ClientRefusedException("a value of the client does not fit the query for its rules")
                : failure;
    }
}
