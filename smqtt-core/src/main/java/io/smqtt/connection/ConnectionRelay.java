// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.thread.OnEventLoop;

/** Chooses the node that serves a client whose session this broker must not keep, and connects the client to it. */
@FunctionalInterface
public interface ConnectionRelay {

    /**
     * Called when the CONNECT of a client with a stored session is complete, on the event loop of its connection. Exactly one of {@link
     * RelayedConnection#connect} and {@link RelayedConnection#refuse} must follow on the same event loop, unless the client goes before.
     *
     * @param client the client, of which nothing is read until it is connected
     */
    @OnEventLoop
    void relay(RelayedConnection client);
}
