// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.api;

import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An error as {@code application/problem+json} of RFC 9457, with the fields {@code code} and {@code message} in addition, by which
 * scripts for other brokers' APIs know errors. Immutable.
 *
 * @param status the HTTP status
 * @param code the reason for scripts, in upper case
 * @param message the reason for people; quotes no secret
 * @param more further fields by name
 */
public record Problem(int status, String code, String message, Map<String, Object> more) {

    private static final String TYPE = "application/problem+json";

    /** Copies the map. */
    public Problem {
        more = Map.copyOf(more);
    }

    /**
     * A problem without further fields.
     *
     * @param status the HTTP status
     * @param code the reason for scripts, in upper case
     * @param message the reason for people; quotes no secret
     */
    public Problem(int status, String code, String message) {
        this(status, code, message, Map.of());
    }

    /**
     * The request cannot be understood.
     *
     * @param message names the parameter or field
     * @return status 400
     */
    public static Problem badRequest(String message) {
        return new Problem(400, "BAD_REQUEST", message);
    }

    /**
     * Something does not exist.
     *
     * @param message names it
     * @return status 404
     */
    public static Problem notFound(String message) {
        return new Problem(404, "NOT_FOUND", message);
    }

    /**
     * The broker cannot do it now.
     *
     * @param message the reason
     * @return status 503
     */
    public static Problem unavailable(String message) {
        return new Problem(503, "SERVICE_UNAVAILABLE", message);
    }

    /**
     * The body is larger than the route allows.
     *
     * @return status 413
     */
    public static Problem bodyTooLarge() {
        return new Problem(413, "BODY_TOO_LARGE", "the body is too large");
    }

    /**
     * The body did not arrive in time.
     *
     * @return status 408
     */
    public static Problem bodyTooSlow() {
        return new Problem(408, "BODY_TOO_SLOW", "the body came too slowly");
    }

    /**
     * Makes the problem an error.
     *
     * @return an exception to throw
     */
    public ProblemException exception() {
        return new ProblemException(this);
    }

    /**
     * Makes the problem an answer.
     *
     * @return an answer with its status
     */
    public ApiAnswer.Content answer() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("type", "about:blank");
        fields.put("title", HttpResponseStatus.valueOf(status).reasonPhrase());
        fields.put("status", status);
        fields.put("detail", message);
        fields.put("code", code);
        fields.put("message", message);
        fields.putAll(more);
        return ApiAnswer.json(status, fields).ofType(TYPE);
    }
}
