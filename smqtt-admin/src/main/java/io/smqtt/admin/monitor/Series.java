// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

/** A figure whose history is kept. */
enum Series {
    /** Messages accepted from publishers. */
    RECEIVED("received", true),
    /** Their payload in bytes. */
    RECEIVED_BYTES("received_bytes", true),
    /** Messages written to subscribers. */
    SENT("sent", true),
    /** Their payload in bytes. */
    SENT_BYTES("sent_bytes", true),
    /** Deliveries that ended without being written. */
    DROPPED("dropped", true),
    /** Accepted CONNECT packets. */
    CONNECTS("connects", true),
    /** Sessions, online and offline. */
    SESSIONS("connections", false),
    /** Connected clients. */
    ONLINE("live_connections", false),
    /** Subscriptions. */
    SUBSCRIPTIONS("subscriptions", false),
    /** Retained messages. */
    RETAINED("retained_msg_count", false),
    /** Messages in queues. */
    QUEUED("mqueue", false),
    /** Messages sent and not yet acknowledged. */
    IN_FLIGHT("inflight", false),
    /** CPU time per second; 1 is one core. */
    CPU("cpu", false),
    /** The heap in use, in bytes. */
    HEAP("memory_used", false);

    private final String field;
    private final boolean counted;

    Series(String field, boolean counted) {
        this.field = field;
        this.counted = counted;
    }

    /** Its name in JSON. */
    String field() {
        return field;
    }

    /** One value for two intervals: the sum of what is counted, else the greater one. */
    float join(float one, float other) {
        return counted ? one + other : Math.max(one, other);
    }
}
