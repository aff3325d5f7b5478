// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.spi.ClientIdentity;
import java.net.InetAddress;
import java.util.List;

/** A line of an ACL file: a filter, and the networks of the clients to which it applies, none for all. */
final class AclRule {

    private final RuleFilter filter;
    private final RuleFilter widened;
    private final List<AddressRange> addresses;

    AclRule(RuleFilter filter, List<AddressRange> addresses) {
        this.filter = filter;
        this.widened = filter.widened();
        this.addresses = List.copyOf(addresses);
    }

    /** Matches a rule that allows. An unknown address or name does not match. */
    boolean allows(ClientIdentity client, String topic) {
        return filter.fill(client) == RuleFilter.Fill.POSSIBLE
                && filter.covers(topic, client)
                && isFromNetwork(client, false);
    }

    /** Matches a rule that denies. An unknown address matches, and a placeholder that cannot be filled in makes the rule wider. */
    boolean denies(ClientIdentity client, String topic) {
        boolean covered = switch (filter.fill(client)) {
            case POSSIBLE -> filter.covers(topic, client);
            case UNSAFE -> widened.covers(topic, client);
            case ABSENT -> false;
        };
        return covered && isFromNetwork(client, true);
    }

    private boolean isFromNetwork(ClientIdentity client, boolean ifUnknown) {
        if (addresses.isEmpty()) {
            return true;
        }
        InetAddress address = client.remoteAddress().getAddress();
        if (address == null) {
            return ifUnknown;
        }
        for (int i = 0; i < addresses.size(); i++) {
            if (addresses.get(i).contains(address)) {
                return true;
            }
        }
        return false;
    }
}
