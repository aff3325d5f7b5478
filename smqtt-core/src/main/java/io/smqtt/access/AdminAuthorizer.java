// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.AccessRequest;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.ClientIdentity;
import reactor.core.publisher.Mono;

/**
 * Lets those with the role admin read what the broker tells of itself, where nobody before has decided. It has no say in
 * anything else.
 */
final class AdminAuthorizer implements Authorizer {

    private static final String ADMIN = "admin";

    @Override
    public Mono<AccessDecision> authorize(AccessRequest request) {
        return authorize(request.client(), request.action(), request.topic(), request.qos(), request.retain());
    }

    @Override
    public Mono<AccessDecision> authorize(
            ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {
        boolean reads = mayRead(client, action) && SystemTopics.isStatus(topic);
        return (reads ? AccessDecision.ALLOW : AccessDecision.CONTINUE).now();
    }

    /** Tells whether a client may do that with the broker's own topics. */
    static boolean mayRead(ClientIdentity client, AccessAction action) {
        return action != AccessAction.PUBLISH && client.roles().contains(ADMIN);
    }

    /** Others decide of deliveries if they decide of subscriptions. */
    @Override
    public boolean checksDeliveries() {
        return false;
    }
}
