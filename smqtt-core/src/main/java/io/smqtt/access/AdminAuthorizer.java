// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.ClientIdentity;
import reactor.core.publisher.Mono;

/**
 * Allows clients with the role admin to read the broker's own topics, unless an earlier authorizer has decided. It decides nothing
 * else.
 */
final class AdminAuthorizer implements DirectAuthorizer {

    private static final String ADMIN = "admin";

    @Override
    public Mono<AccessDecision> authorize(
            ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {
        return (mayReadStatus(client, action, topic) ? AccessDecision.ALLOW : AccessDecision.CONTINUE).now();
    }

    /** Whether an action reads one of the broker's own topics, and the client may. */
    static boolean mayReadStatus(ClientIdentity client, AccessAction action, String topic) {
        return mayRead(client, action) && SystemTopics.isStatus(topic);
    }

    /** Whether a client may perform this action on the broker's own topics. */
    static boolean mayRead(ClientIdentity client, AccessAction action) {
        return action != AccessAction.PUBLISH && client.roles().contains(ADMIN);
    }

    /** False: the check at SUBSCRIBE is enough for these topics. */
    @Override
    public boolean checksDeliveries() {
        return false;
    }
}
