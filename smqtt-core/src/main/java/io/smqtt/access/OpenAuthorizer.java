// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.ClientIdentity;
import reactor.core.publisher.Mono;

/**
 * The authorizer of a broker that has no other: all topics are open but the broker's own. Whom an authenticator has granted
 * the role admin reads what the broker tells of itself.
 */
final class OpenAuthorizer implements Authorizer {

    @Override
    public Mono<AccessDecision> authorize(ClientIdentity client, AccessAction action, String topic) {
        boolean closed = SystemTopics.isControl(topic)
                || (SystemTopics.isStatus(topic)
                        && !AdminAuthorizer.mayRead(client, action)
                        && !(action == AccessAction.PUBLISH && SystemTopics.isOwnBridgeState(client, topic)));
        return (closed ? AccessDecision.DENY : AccessDecision.ALLOW).now();
    }

    /** A subscription is to the broker's topics or to none of them, so the check at SUBSCRIBE is enough. */
    @Override
    public boolean checksDeliveries() {
        return false;
    }
}
