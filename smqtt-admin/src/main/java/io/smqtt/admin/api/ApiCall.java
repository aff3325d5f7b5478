// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.api;

import io.smqtt.admin.account.Credentials;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A request as an HTTP server has received it, whichever that is.
 *
 * @param method the method
 * @param path the path, not decoded, without query
 * @param query the query, not decoded; empty if there is none
 * @param credentials what the request says about its sender
 * @param headers finds the first value of a header by its name, in any case; null if there is none
 * @param body reads the body, at most that many bytes; fails with a {@link ProblemException} of status 413 if it is larger, 408 if
 *     it comes too slowly
 */
public record ApiCall(
        String method,
        String path,
        String query,
        Credentials credentials,
        Function<String, @Nullable String> headers,
        IntFunction<Mono<byte[]>> body) {

    /**
     * Returns a header.
     *
     * @param name its name, in any case
     * @return the first value; null if there is none
     */
    public @Nullable String header(String name) {
        return headers.apply(name);
    }
}
