// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscriber;
import io.smqtt.thread.AnyThread;

/** A session as its shared groups see it: a subscriber that pulls messages, and adds its limits to those of the group. */
@AnyThread
abstract class GroupMember implements Subscriber {

    @Override
    public abstract RoutingLoop owner();

    /**
     * Returns whether the session survives the broker's process. If so, the messages of its groups do too. Never changes.
     *
     * @return false without a store, and for a session that began without an expiry interval
     */
    public abstract boolean isStored();

    /** The limits of the session's queue. */
    abstract LimitsConfig limits();

    /** Returns unacknowledged messages to their groups if the client is offline: another member has connected. */
    abstract void giveBackWhileAbsent();
}
