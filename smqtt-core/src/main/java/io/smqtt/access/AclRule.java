// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.spi.ClientIdentity;
import java.net.InetAddress;
import java.util.List;

/** One line of an ACL file: a filter, and the networks that the client must come from, none for any. */
final class AclRule {

    private final RuleFilter filter;
    private final RuleFilter widened;
    private final List<AddressRange> addresses;

    AclRule(RuleFilter filter, List<AddressRange> addresses) {
        this.filter = filter;
        this.widened = filter.widened();
        this.addresses = List.copyOf(addresses);
    }

    /** For a rule that allows. What is not known (the address, a name) does not match. */
    boolean allows(ClientIdentity client, String topic) {
        return filter.fill(client) == RuleFilter.Fill.POSSIBLE
                && filter.covers(topic, client)
                && comesFromHere(client, false);
    }

    /** For a rule that denies. What is not known (the address) matches, and what cannot be filled in denies more. */
    boolean denies(ClientIdentity client, String topic) {
        boolean covered = switch (filter.fill(client)) {
            case POSSIBLE -> filter.covers(topic, client);
            case UNSAFE -> widened.covers(topic, client);
            case ABSENT -> false;
        };
        return covered && comesFromHere(client, true);
    }

    private boolean comesFromHere(ClientIdentity client, boolean ifUnknown) {
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
