// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.ClientRow;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.spi.ClientIdentity;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Selects sessions by the parameters of a request. A parameter that is missing selects all. */
final class ClientFilter {

    private static final List<String> STATES = List.of("connected", "disconnected", "idle");

    private ClientFilter() {}

    /** Reads the parameters, for all nodes. */
    static Map<String, Object> of(ApiRequest request) {
        Map<String, Object> filter = new LinkedHashMap<>();
        for (String name : List.of("clientid", "username")) {
            if (!request.queries(name).isEmpty()) {
                filter.put(name, request.queries(name));
            }
        }
        for (String name : List.of("ip_address", "like_clientid", "like_username")) {
            put(filter, name, request.query(name));
        }
        String state = request.query("conn_state");
        if (state != null && !STATES.contains(state)) {
            throw Problem.badRequest("the parameter conn_state must be one of " + STATES)
                    .exception();
        }
        put(filter, "conn_state", state);
        put(filter, "clean_start", request.flag("clean_start"));
        for (String name : List.of("proto_ver", "gte_mqueue_len", "gte_mqueue_dropped")) {
            if (request.query(name) != null) {
                filter.put(name, request.number(name, 0, 0, Integer.MAX_VALUE));
            }
        }
        for (String name : List.of("gte_connected_at", "lte_connected_at")) {
            String text = request.query(name);
            if (text != null) {
                filter.put(name, millis(name, text));
            }
        }
        return filter;
    }

    private static void put(Map<String, Object> filter, String name, @Nullable Object value) {
        if (value != null) {
            filter.put(name, value);
        }
    }

    /** Milliseconds since 1970, or a time of RFC 3339, whose plus sign may have become a blank in the query. */
    private static long millis(String name, String text) {
        try {
            return text.chars().allMatch(Character::isDigit)
                    ? Long.parseLong(text)
                    : OffsetDateTime.parse(text.replace(' ', '+')).toInstant().toEpochMilli();
        } catch (DateTimeException | NumberFormatException | ArithmeticException e) {
            throw Problem.badRequest(
                            "the parameter " + name + " must be milliseconds since 1970, or a time of RFC 3339")
                    .exception();
        }
    }

    /** Makes the filter of a node. */
    static Predicate<ClientRow> of(JsonFields filter) {
        Predicate<ClientRow> all = row -> true;
        all = and(all, texts(filter, "clientid"), ClientFilter::clientId, List::contains);
        all = and(all, texts(filter, "username"), ClientFilter::userName, List::contains);
        all = and(all, filter.textOrNull("ip_address"), ClientFilter::address, String::equals);
        all = and(all, filter.textOrNull("like_clientid"), ClientFilter::clientId, (part, id) -> id.contains(part));
        all = and(all, filter.textOrNull("like_username"), ClientFilter::userName, (part, name) -> name.contains(part));
        String state = filter.textOrNull("conn_state");
        if (state != null) {
            all = all.and(row -> state.equals(row.info().connected() ? "connected" : "disconnected"));
        }
        if (filter.has("clean_start")) {
            Boolean wanted = filter.flag("clean_start");
            all = all.and(row -> wanted.equals(row.cleanStart()));
        }
        all = and(all, number(filter, "proto_ver"), ClientFilter::version, Long::equals);
        all = and(
                all, number(filter, "gte_mqueue_len"), row -> (long) row.info().queued(), (least, n) -> n >= least);
        all = and(all, number(filter, "gte_mqueue_dropped"), ClientRow::dropped, (least, n) -> n >= least);
        all = and(all, number(filter, "gte_connected_at"), ClientRow::connectedAtMillis, (least, at) -> at >= least);
        return and(all, number(filter, "lte_connected_at"), ClientRow::connectedAtMillis, (most, at) -> at <= most);
    }

    /** Compares what is wanted with what is found. */
    private interface Test<W, F> {

        boolean matches(W wanted, F found);
    }

    /** Reads a value of a session; null if it has none. */
    private interface Value<F> {

        @Nullable
        F of(ClientRow row);
    }

    private static <W, F> Predicate<ClientRow> and(
            Predicate<ClientRow> all, @Nullable W wanted, Value<F> value, Test<W, F> test) {
        return wanted == null
                ? all
                : all.and(row -> {
                    F found = value.of(row);
                    return found != null && test.matches(wanted, found);
                });
    }

    private static @Nullable List<String> texts(JsonFields filter, String name) {
        return filter.has(name) ? filter.texts(name) : null;
    }

    private static @Nullable Long number(JsonFields filter, String name) {
        return filter.has(name) ? filter.number(name, 0, Long.MAX_VALUE) : null;
    }

    private static ClientIdentity identity(ClientRow row) {
        return row.info().identity();
    }

    private static String clientId(ClientRow row) {
        return identity(row).clientId();
    }

    private static @Nullable String userName(ClientRow row) {
        return identity(row).userName();
    }

    private static @Nullable String address(ClientRow row) {
        var address = identity(row).remoteAddress().getAddress();
        return address == null ? null : address.getHostAddress();
    }

    private static Long version(ClientRow row) {
        return (long) ClientFields.version(identity(row).version());
    }
}
