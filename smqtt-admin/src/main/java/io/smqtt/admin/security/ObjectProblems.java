// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.security;

import io.smqtt.admin.account.Accounts.LoginRefusedException;
import io.smqtt.admin.account.Callers.Refusal;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.object.Expected;
import io.smqtt.admin.object.ObjectRefusedException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Answers for changes that are refused. */
public final class ObjectProblems {

    /** The name of the field and parameter with the version that a change is meant for. */
    static final String VERSION = "version";

    private ObjectProblems() {}

    /**
     * Answers refusals of objects and logins.
     *
     * @param answer the answer of a handler
     * @param missing the code of a problem with an object that does not exist
     * @return the same, with a problem instead of the error
     */
    public static Mono<ApiAnswer> answered(Mono<ApiAnswer> answer, String missing) {
        return answer.onErrorResume(
                        ObjectRefusedException.class,
                        error -> Mono.just(problem(error, missing).answer()))
                .onErrorResume(LoginRefusedException.class, error -> Mono.just(answer(error.refusal())));
    }

    private static ApiAnswer answer(Refusal refusal) {
        ApiAnswer answer = new Problem(refusal.status(), refusal.code(), refusal.message()).answer();
        return refusal.retryAfter() == null
                ? answer
                : answer.with("Retry-After", Long.toString(refusal.retryAfter().toSeconds()));
    }

    private static Problem problem(ObjectRefusedException error, String missing) {
        String message = String.valueOf(error.getMessage());
        return switch (error.reason()) {
            case CHANGED -> new Problem(409, "CONFLICT", message);
            case EXISTS -> new Problem(400, "ALREADY_EXISTS", message);
            case MISSING -> new Problem(404, missing, message);
            case READ_ONLY -> new Problem(403, "READ_ONLY", message);
            case INVALID -> Problem.badRequest(message);
            case LIMIT -> new Problem(409, "EXCEED_LIMIT", message);
            case NOT_STORED -> Problem.unavailable(message);
        };
    }

    /**
     * The state that a change of an existing object is meant for.
     *
     * @param version the version; null for any
     * @return the state
     */
    public static Expected expected(@Nullable Long version) {
        return version == null ? Expected.SOMETHING : Expected.version(version);
    }
}
