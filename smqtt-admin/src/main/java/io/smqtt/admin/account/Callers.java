// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Authenticates the callers of the management port. Called on the thread of the management port, so it must not block. */
public interface Callers {

    /**
     * Checks address, Host and Origin of a request, before anything else, also where no login is needed.
     *
     * @param credentials what the request says
     * @return why it is refused; null if it may continue
     */
    default @Nullable Refusal refusal(Credentials credentials) {
        return null;
    }

    /**
     * Authenticates a request that needs a role.
     *
     * @param credentials what the request says
     * @return one answer; an error becomes status 500
     */
    Mono<Identification> identify(Credentials credentials);

    /**
     * Authenticates the caller of a continuing answer, such as a stream, again. It does not prolong a login.
     *
     * @param credentials what the request said
     * @return one answer
     */
    default Mono<Identification> identifyAgain(Credentials credentials) {
        return identify(credentials);
    }

    /**
     * Tells whether a request is that of a known caller, whose connection has a place of its own.
     *
     * @param authorization the Authorization header; null if there is none
     * @return true if it authenticates a caller
     */
    default boolean isKnown(@Nullable String authorization) {
        return false;
    }

    /** The result of an authentication. */
    sealed interface Identification permits Known, Refusal {}

    /**
     * The request has been authenticated.
     *
     * @param caller the caller
     */
    record Known(Caller caller) implements Identification {}

    /**
     * The request is refused. Immutable.
     *
     * @param status the HTTP status: 401, 403 or 429
     * @param code the reason for scripts, such as {@code BAD_API_KEY_OR_SECRET}
     * @param message the reason for people
     * @param retryAfter when to try again; null if that does not help
     */
    record Refusal(
            int status,
            String code,
            String message,
            @Nullable Duration retryAfter) implements Identification {}
}
