// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

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

    byte[] encode(StoredSession session, RowWriter row) {
        String user = session.userName();
        Will will = session.will();
        Set<String> roles = session.roles();
        row.clear()
                .putByte(roles.isEmpty() ? VERSION : VERSION_WITH_ROLES)
                .putByte((user == null ? 0 : USER) | (will == null ? 0 : WILL));
        row.putText(session.clientId());
        if (user != null) {
            row.putText(user);
        }
        if (!roles.isEmpty()) {
            row.putNumber(roles.size());
            roles.forEach(row::putText);
        }
        row.putNumber(session.expirySeconds());
        row.putSigned(session.expiresAtMillis());
        row.putSigned(session.willAtMillis());
        if (will != null) {
            row.putNumber(will.delaySeconds());
            messages.write(will.message(), row);
        }
        return row.toByteArray();
    }

    StoredSession decode(long number, byte[] bytes) {
        RowReader row = new RowReader(bytes);
        boolean hasRoles = row.requireVersion(VERSION, VERSION_WITH_ROLES) == VERSION_WITH_ROLES;
        int flags = row.readByte();
        String clientId = row.readText();
        @Nullable String user = (flags & USER) == 0 ? null : row.readText();
        Set<String> roles = hasRoles ? roles(row) : Set.of();
        long expirySeconds = row.readNumber();
        long expiresAtMillis = row.readSigned();
        long willAtMillis = row.readSigned();
        @Nullable Will will = (flags & WILL) == 0 ? null : will(row);
        row.requireEnd();
        return new StoredSession(number, clientId, user, roles, expirySeconds, expiresAtMillis, will, willAtMillis);
    }

    /** Sessions with the same roles share one object. */
    private Set<String> roles(RowReader row) {
        int count = row.readInt();
        Set<String> roles = new HashSet<>();
        for (int i = 0; i < count; i++) {
            roles.add(row.readText());
        }
        if (!roles.equals(lastRoles)) {
            lastRoles = Set.copyOf(roles);
        }
        return lastRoles;
    }

    private Will will(RowReader row) {
        long delaySeconds = row.readNumber();
        return new Will(messages.read(row), delaySeconds);
    }

    static byte[] encode(StoredSubscription subscription, RowWriter row) {
        return row.clear()
                .putByte(VERSION)
                .putByte(subscription.maximumQos().level()
                        | (subscription.noLocal() ? NO_LOCAL : 0)
                        | (subscription.retainAsPublished() ? RETAIN_AS_PUBLISHED : 0))
                .putNumber(subscription.identifier())
                .toByteArray();
    }

    static StoredSubscription decode(String filter, byte[] bytes) {
        RowReader row = new RowReader(bytes);
        row.requireVersion(VERSION);
        int flags = row.readByte();
        if ((flags & QOS) == QOS || flags > 0x0F) {
            throw new DamagedRowException("a subscription has unknown flags");
        }
        int identifier = row.readInt();
        row.requireEnd();
        return new StoredSubscription(
                filter, QoS.of(flags & QOS), (flags & NO_LOCAL) != 0, (flags & RETAIN_AS_PUBLISHED) != 0, identifier);
    }
}
