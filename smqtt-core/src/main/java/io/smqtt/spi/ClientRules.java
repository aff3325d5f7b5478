// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.QoS;
import io.smqtt.thread.AnyThread;

/**
 * The access rules of one client, which an authenticator has fetched with its answer. They are asked before any {@link Authorizer}, on event loops, for
 * deliveries too. An implementation whose answers can change increases {@link Authorizer#generation()} of an authorizer of its own with each change, so that
 * cached decisions are requested again.
 */
@FunctionalInterface
public interface ClientRules {

    /**
     * Decides about one action. Must not block, and must answer at once.
     *
     * @param client the client
     * @param action the action
     * @param topic a topic name or filter
     * @param qos see {@link AccessRequest#qos()}
     * @param retain see {@link AccessRequest#retain()}
     * @return the decision; {@link AccessDecision#CONTINUE} if no rule applies
     */
    @AnyThread
    AccessDecision decide(ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain);
}
