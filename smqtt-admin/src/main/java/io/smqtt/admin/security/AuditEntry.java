// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.security;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A line of the audit. Immutable. It has the names of the fields of a body, and the values of few that are no secrets.
 *
 * @param createdAt the time of the answer
 * @param node the node that has answered
 * @param from {@code dashboard} for a user, {@code rest_api} for an API key or the token of the port, {@code signal} for a signal of the
 *     operating system, {@code broker} for a ban that the broker has made by itself; empty if that is not known
 * @param source the name of the caller or of the signal, or the cause of the ban; of a failed login the name that was tried
 * @param sourceIp the address of the caller
 * @param operation the path as the API has it, such as <code>/clients/{clientid}</code>
 * @param method the HTTP method
 * @param bindings the parameters of the path and the query
 * @param fields the names of the fields of the body
 * @param values those values of the body that say what is changed, and are never secrets
 * @param status the HTTP status of the answer
 * @param failure the code of the refusal, or what has failed although the status says success; empty if there is none
 */
record AuditEntry(
        Instant createdAt,
        String node,
        String from,
        String source,
        String sourceIp,
        String operation,
        String method,
        Map<String, String> bindings,
        List<String> fields,
        Map<String, String> values,
        int status,
        String failure) {

    private static final int REFUSED = 400;

    boolean isSuccess() {
        return status < REFUSED && failure.isEmpty();
    }

    /** The first part of the path. */
    String type() {
        int slash = operation.indexOf('/', 1);
        return operation.isEmpty() ? "" : operation.substring(1, slash < 0 ? operation.length() : slash);
    }

    /** The names and values for JSON. */
    Map<String, Object> toFields() {
        Map<String, Object> request = new LinkedHashMap<>();
        request.put("method", method.toLowerCase(Locale.ROOT));
        request.put("bindings", bindings);
        request.put("body_fields", fields);
        request.put("body", values);
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("created_at", createdAt.toString());
        all.put("node", node);
        all.put("from", from);
        all.put("source", source);
        all.put("source_ip", sourceIp);
        all.put("operation_id", operation);
        all.put("operation_type", type());
        all.put("operation_result", isSuccess() ? "success" : "failure");
        all.put("http_status_code", status);
        all.put("http_method", method.toLowerCase(Locale.ROOT));
        all.put("http_request", request);
        all.put("failure", failure);
        return all;
    }
}
