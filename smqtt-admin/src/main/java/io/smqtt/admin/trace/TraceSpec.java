// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.trace;

import io.netty.util.NetUtil;
import io.smqtt.topic.TopicFilter;
import io.smqtt.trace.TraceSubject;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;

/**
 * A trace that an operator has made. Immutable.
 *
 * @param type what it is about
 * @param value the client identifier, the topic filter or the address
 * @param start when it begins
 * @param end when it ends by itself
 * @param encoding how payloads are shown
 * @param payloadBytes the maximum number of bytes of a payload that are shown, 1 to {@link #MAX_PAYLOAD_BYTES}
 * @param json whether a line is a JSON object
 * @param pings whether PINGREQ and PINGRESP are traced
 * @param stopped whether an operator has ended it
 */
record TraceSpec(
        Type type,
        String value,
        Instant start,
        Instant end,
        Encoding encoding,
        int payloadBytes,
        boolean json,
        boolean pings,
        boolean stopped) {

    static final int MAX_PAYLOAD_BYTES = 65_536;
    static final int USUAL_PAYLOAD_BYTES = 1_024;
    static final Duration USUAL_TIME = Duration.ofMinutes(30);
    static final Duration MAX_TIME = Duration.ofHours(24);

    /** Maximum time until a trace begins. */
    static final Duration MAX_WAIT = Duration.ofDays(7);

    /** What a trace is about; the constants are those of the API, in upper case. */
    enum Type {
        CLIENTID,
        TOPIC,
        IP_ADDRESS
    }

    /** How payloads are shown. */
    enum Encoding {
        TEXT,
        HEX,
        HIDDEN
    }

    /** Where a trace is in its time. */
    enum Status {
        WAITING,
        RUNNING,
        STOPPED
    }

    Status status(Instant now) {
        if (stopped || !now.isBefore(end)) {
            return Status.STOPPED;
        }
        return now.isBefore(start) ? Status.WAITING : Status.RUNNING;
    }

    TraceSubject subject() {
        return switch (type) {
            case CLIENTID -> new TraceSubject.OfClient(value);
            case TOPIC -> new TraceSubject.OfTopic(TopicFilter.of(value));
            case IP_ADDRESS -> new TraceSubject.OfAddress(address(value));
        };
    }

    /** Reads an address without asking a name server: only digits, colons and dots are taken. */
    static InetAddress address(String text) {
        byte[] bytes = NetUtil.createByteArrayFromIpAddressString(text);
        if (bytes == null) {
            throw new IllegalArgumentException("the field ip_address must be an IPv4 or IPv6 address");
        }
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) { // 4 or 16 bytes are an address
            throw new IllegalArgumentException(e);
        }
    }

    TraceSpec end(Instant now) {
        return new TraceSpec(
                type, value, start, now.isBefore(end) ? now : end, encoding, payloadBytes, json, pings, true);
    }
}
