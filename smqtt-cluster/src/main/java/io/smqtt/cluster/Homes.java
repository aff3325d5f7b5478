// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.routing.Subscriber;
import io.smqtt.session.Session;
import io.smqtt.thread.AnyThread;
import java.util.Collection;
import java.util.Set;

/**
 * The nodes whose sessions are to get a message: it was parked for these, another node has adopted their sessions, and that one has sessions of its own with
 * the same filters. Names of nodes, one a line; as text also in stores.
 */
@AnyThread
final class Homes {

    /** All sessions get the message. */
    static final String ALL = "";

    private static final String SEPARATOR = "\n";

    private Homes() {}

    /** The text for these nodes. */
    static String of(Collection<String> nodes) {
        return String.join(SEPARATOR, nodes);
    }

    /** The nodes; empty for {@link #ALL}. */
    static Set<String> nodes(String homes) {
        return homes.equals(ALL) ? Set.of() : Set.of(homes.split(SEPARATOR));
    }

    /** Whether a subscriber is an adopted session of one of these nodes, or they are all. */
    static boolean include(Set<String> nodes, Subscriber subscriber) {
        if (nodes.isEmpty()) {
            return true;
        }
        String home = subscriber instanceof Session session ? session.home() : null;
        return home != null && nodes.contains(home);
    }
}
