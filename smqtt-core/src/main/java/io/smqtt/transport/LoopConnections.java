// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/**
 * The open connections of one listener on one event loop: an intrusive list, so that it needs no further object per connection.
 */
@OnEventLoop
final class LoopConnections {

    private @Nullable AcceptedConnection first;

    void add(AcceptedConnection connection) {
        AcceptedConnection second = first;
        connection.next = second;
        if (second != null) {
            second.previous = connection;
        }
        first = connection;
    }

    void remove(AcceptedConnection connection) {
        AcceptedConnection before = connection.previous;
        AcceptedConnection after = connection.next;
        if (before != null) {
            before.next = after;
        } else if (first == connection) {
            first = after;
        }
        if (after != null) {
            after.previous = before;
        }
        connection.previous = null;
        connection.next = null;
    }

    void closeAll() {
        AcceptedConnection connection = first;
        while (connection != null) {
            AcceptedConnection after = connection.next; // closing may unlink
            connection.channel().close();
            connection = after;
        }
    }
}
