// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.routing.Subscriber;
import io.smqtt.session.Session;
import io.smqtt.thread.AnyThread;
import java.util.Collection;
import java.util.Set;

/**
 * Nodes whose sessions another one has adopted, as a text: their names, one a line. A message that was parked for such nodes is sent to the other one for
 * their sessions only. With a message that was not parked, they are those whose sessions are to get it by the routes of the other one.
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

    /** The group of a {@link Frame.Refusal} of a message for the sessions of one node only: its receiver does not serve these. */
    static String refusal(String node) {
        return SEPARATOR + node;
    }

    /** Whether a group of a {@link Frame.Refusal} is a {@link #refusal}. */
    static boolean isRefusal(String group) {
        return group.startsWith(SEPARATOR);
    }

    /** The node of a {@link #refusal}. */
    static String refused(String group) {
        return group.substring(SEPARATOR.length());
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
