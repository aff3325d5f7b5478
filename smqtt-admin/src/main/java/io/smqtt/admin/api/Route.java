// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.api;

import io.smqtt.admin.account.Role;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A path of the API with a method. Immutable.
 *
 * @param method the method in upper case; {@code GET} answers HEAD too
 * @param template the path below the base, such as <code>/clients/{clientid}</code>; a parameter is one whole segment
 * @param least the role that is needed; null if no login is needed
 * @param maxBodyBytes maximum size of the body; 0 if a body is ignored
 * @param handler answers requests
 */
public record Route(
        String method, String template, @Nullable Role least, int maxBodyBytes, Handler handler) {

    /** Maximum size of a body, unless a route has its own. */
    public static final int BODY_BYTES = 1 << 20;

    /** Answers requests whose caller has the role. */
    @FunctionalInterface
    public interface Handler {

        /**
         * Answers a request. Called on the thread of the management port, so it must not block.
         *
         * @param request the request
         * @return one answer; a {@link ProblemException} becomes its problem, any other error status 500 without its text
         */
        Mono<ApiAnswer> answer(ApiRequest request);
    }

    /**
     * A route that reads.
     *
     * @param template the path below the base
     * @param least the role that is needed; null if no login is needed
     * @param handler answers requests
     * @return a route for GET and HEAD
     */
    public static Route get(String template, @Nullable Role least, Handler handler) {
        return new Route("GET", template, least, 0, handler);
    }

    /**
     * A route with a body.
     *
     * @param template the path below the base
     * @param least the role that is needed; null if no login is needed
     * @param handler answers requests
     * @return a route for POST
     */
    public static Route post(String template, @Nullable Role least, Handler handler) {
        return new Route("POST", template, least, BODY_BYTES, handler);
    }

    /**
     * A route with a body that replaces something.
     *
     * @param template the path below the base
     * @param least the role that is needed; null if no login is needed
     * @param handler answers requests
     * @return a route for PUT
     */
    public static Route put(String template, @Nullable Role least, Handler handler) {
        return new Route("PUT", template, least, BODY_BYTES, handler);
    }

    /**
     * A route that removes something.
     *
     * @param template the path below the base
     * @param least the role that is needed; null if no login is needed
     * @param handler answers requests
     * @return a route for DELETE
     */
    public static Route delete(String template, @Nullable Role least, Handler handler) {
        return new Route("DELETE", template, least, 0, handler);
    }
}
