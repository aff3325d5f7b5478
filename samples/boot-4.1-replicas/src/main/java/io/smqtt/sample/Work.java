// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sample;

import io.smqtt.spring.MqttListener;
import io.smqtt.spring.MqttTemplate;
import io.smqtt.spring.TopicVariable;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/** Each message of a device is dealt with by one of the replicas. */
@Component
class Work {

    private final MqttTemplate mqtt;

    Work(MqttTemplate mqtt) {
        this.mqtt = mqtt;
    }

    // snippet shared
    @MqttListener(filter = "$share/app/work/{id}", qos = 1)
    Mono<Void> work(@TopicVariable String id, String payload) {
        return mqtt.publish("done/" + id, payload.toUpperCase()).then();
    }
    // end
}
