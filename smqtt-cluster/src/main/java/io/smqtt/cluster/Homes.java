// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.routing.Subscriber;
import io.smqtt.session.Session;
import io.smqtt.thread.AnyThread;
import java.util.Collection;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Nodes whose sessions another one has adopted, as a text: their names, one a line. A message that was parked for such nodes is sent to the other one for
 * their sessions only. A message that was not parked names those whose sessions are to get it, too, by the routes of the other one: other adopted sessions get
 * it from the park of its sender.
 */
@AnyThread
final class Homes {

    /** No adopted session gets the message, but all others do. */
    static final String NONE = "";

    private static final String SEPARATOR = "\n";

    private Homes() {}

    /** The text for these nodes. */
    static String of(Collection<String> nodes) {
        return String.join(SEPARATOR, nodes);
    }

    /** The nodes; empty for {@link #NONE}. */
    static Set<String> nodes(String homes) {
        return homes.equals(NONE) ? Set.of() : Set.of(homes.split(SEPARATOR));
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

    /** The node of an adopted session; null for another subscriber. */
    static @Nullable String of(Subscriber subscriber) {
        return subscriber instanceof Session session ? session.home() : null;
    }
}
