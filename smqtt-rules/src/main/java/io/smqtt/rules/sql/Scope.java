// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The names that a statement has given so far, while it is compiled, and the paths of the payload that it needs. */
final class Scope {

    /** The fields of events. Only for names in double quotation marks, which are text otherwise. */
    static final Set<String> FIELDS = Set.of(
            "action",
            "clean_start",
            "client_attrs",
            "clientid",
            "conn_props",
            "connected_at",
            "disconn_props",
            "disconnected_at",
            "event",
            "event_type",
            "expiry_interval",
            "flags",
            "from_clientid",
            "from_username",
            "headers",
            "id",
            "keepalive",
            "metadata",
            "node",
            "payload",
            "peerhost",
            "peername",
            "proto_name",
            "proto_ver",
            "pub_props",
            "publish_received_at",
            "qos",
            "reason",
            "reason_code",
            "result",
            "sockname",
            "sub_props",
            "timestamp",
            "topic",
            "unsub_props",
            "username");

    final PulledPaths paths = new PulledPaths();
    private final Map<String, Integer> slots = new LinkedHashMap<>();
    private final Map<String, Integer> allSlots = new LinkedHashMap<>();

    /** The slot of a name, or {@code null} if the statement has not given it. */
    @Nullable
    Integer slot(String name) {
        return slots.get(name);
    }

    /** Gives a name to a slot. */
    int name(String name) {
        int slot = allSlots.computeIfAbsent(name, key -> allSlots.size());
        slots.put(name, slot);
        return slot;
    }

    /** Names and slots as they are now. */
    Map<String, Integer> names() {
        return Map.copyOf(slots);
    }

    /** The number of slots that an evaluation needs. */
    int size() {
        return allSlots.size();
    }
}
