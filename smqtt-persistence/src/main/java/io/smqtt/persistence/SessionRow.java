// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.message.QoS;
import io.smqtt.message.Will;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The encoding of session headers and subscription options. A header with roles has its own version, so that a program without roles does
 * not read the session of a client with rights as one without.
 */
final class SessionRow {

    private static final int VERSION = 1;
    private static final int VERSION_WITH_ROLES = 2;
    private static final int USER = 0x01;
    private static final int WILL = 0x02;
    private static final int QOS = 0x03;
    private static final int NO_LOCAL = 0x04;
    private static final int RETAIN_AS_PUBLISHED = 0x08;

    private final MessageRow messages;
    private Set<String> lastRoles = Set.of();

    SessionRow(MessageRow messages) {
        this.messages = messages;
    }

    byte[] encode(StoredSession session, ByteWriter row) {
        String user = session.userName();
        Will will = session.will();
        Set<String> roles = session.roles();
        row.clear()
                .u8(roles.isEmpty() ? VERSION : VERSION_WITH_ROLES)
                .u8((user == null ? 0 : USER) | (will == null ? 0 : WILL));
        row.text(session.clientId());
        if (user != null) {
            row.text(user);
        }
        if (!roles.isEmpty()) {
            row.number(roles.size());
            roles.forEach(row::text);
        }
        row.number(session.expirySeconds());
        row.signed(session.expiresAtMillis());
        row.signed(session.willAtMillis());
        if (will != null) {
            row.number(will.delaySeconds());
            messages.write(will.message(), row);
        }
        return row.toByteArray();
    }

    StoredSession decode(long number, byte[] bytes) {
        ByteReader row = new ByteReader(bytes);
        boolean hasRoles = row.format(VERSION, VERSION_WITH_ROLES) == VERSION_WITH_ROLES;
        int flags = row.u8();
        String clientId = row.text();
        @Nullable String user = (flags & USER) == 0 ? null : row.text();
        Set<String> roles = hasRoles ? roles(row) : Set.of();
        long expirySeconds = row.number();
        long expiresAtMillis = row.signed();
        long willAtMillis = row.signed();
        @Nullable Will will = (flags & WILL) == 0 ? null : will(row);
        row.requireEnd();
        return new StoredSession(number, clientId, user, roles, expirySeconds, expiresAtMillis, will, willAtMillis);
    }

    /** Sessions with the same roles share one object. */
    private Set<String> roles(ByteReader row) {
        int count = row.number(Integer.MAX_VALUE);
        Set<String> roles = new HashSet<>();
        for (int i = 0; i < count; i++) {
            roles.add(row.text());
        }
        if (!roles.equals(lastRoles)) {
            lastRoles = Set.copyOf(roles);
        }
        return lastRoles;
    }

    private Will will(ByteReader row) {
        long delaySeconds = row.number();
        return new Will(messages.read(row), delaySeconds);
    }

    static byte[] encode(StoredSubscription subscription, ByteWriter row) {
        return row.clear()
                .u8(VERSION)
                .u8(subscription.maximumQos().level()
                        | (subscription.noLocal() ? NO_LOCAL : 0)
                        | (subscription.retainAsPublished() ? RETAIN_AS_PUBLISHED : 0))
                .number(subscription.identifier())
                .toByteArray();
    }

    static StoredSubscription decode(String filter, byte[] bytes) {
        ByteReader row = new ByteReader(bytes);
        row.format(VERSION);
        int flags = row.u8();
        if ((flags & QOS) == QOS || flags > 0x0F) {
            throw new MalformedBytesException("a subscription has unknown flags");
        }
        int identifier = row.number(Integer.MAX_VALUE);
        row.requireEnd();
        return new StoredSubscription(
                filter, QoS.of(flags & QOS), (flags & NO_LOCAL) != 0, (flags & RETAIN_AS_PUBLISHED) != 0, identifier);
    }
}
