// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.AccessRequest;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.ClientIdentity;
import reactor.core.publisher.Mono;

/** An authorizer that needs no {@link AccessRequest}, as the built-in ones: the broker creates no object for a message. */
interface DirectAuthorizer extends Authorizer {

    @Override
    default Mono<AccessDecision> authorize(AccessRequest request) {
        return authorize(request.client(), request.action(), request.topic(), request.qos(), request.retain());
    }

    @Override
    Mono<AccessDecision> authorize(ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain);
}
