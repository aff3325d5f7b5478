// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * Answers requests of the management port below one prefix. The token has been checked before. Called on the thread of the management
 * port, so it must not block.
 */
@FunctionalInterface
public interface ManagementEndpoint {

    /**
     * Answers one request.
     *
     * @param request the request
     * @return one answer; an error becomes 500 without its text
     */
    Mono<Answer> answer(Request request);

    /**
     * A request.
     *
     * @param method {@code GET} or {@code POST}
     * @param path the path without query, not decoded
     * @param parameters the query parameters, decoded; the first value of a repeated one
     * @param body the body in UTF-8, at most 1 MiB; empty if there is none
     */
    record Request(String method, String path, Map<String, String> parameters, String body) {

        /** Copies the parameters. */
        public Request {
            parameters = Map.copyOf(parameters);
        }
    }

    /**
     * An answer.
     *
     * @param status the status code, 200 to 599
     * @param contentType the media type, for example {@code application/json}
     * @param body sent in UTF-8
     */
    record Answer(int status, String contentType, String body) {

        /** Whoever asks before all listeners are bound may try again. */
        public static final Answer STARTING = text(503, "the broker is starting\n");

        /**
         * A plain text answer.
         *
         * @param status the status code
         * @param text one line
         * @return an answer of text/plain
         */
        public static Answer text(int status, String text) {
            return new Answer(status, "text/plain; charset=utf-8", text);
        }

        /**
         * JSON with status 200.
         *
         * @param value a map or a list of maps, lists, texts, numbers, booleans and null, as {@link Fields} makes them
         * @return an answer of application/json
         */
        public static Answer json(Object value) {
            return new Answer(200, "application/json", Json.of(value));
        }
    }
}
