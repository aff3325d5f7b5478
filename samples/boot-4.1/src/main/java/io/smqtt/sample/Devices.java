// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sample;

import io.smqtt.spring.MqttListener;
import io.smqtt.spring.MqttTemplate;
import io.smqtt.spring.TopicVariable;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** What the devices say by MQTT is shown by HTTP, and commands go the other way. */
@RestController
class Devices {

    private final Map<String, State> states = new ConcurrentHashMap<>();
    private final MqttTemplate mqtt;

    Devices(MqttTemplate mqtt) {
        this.mqtt = mqtt;
    }

    // snippet listener
    record State(String color, int level) {}

    @MqttListener(filter = "devices/{id}/state", qos = 1)
    void stateOf(@TopicVariable String id, State state) {
        states.put(id, state);
    }
    // end

    @GetMapping("/devices")
    Map<String, State> all() {
        return states;
    }

    // snippet template
    @PostMapping("/devices/{id}/command")
    Mono<Integer> command(@PathVariable String id, @RequestBody State wanted) {
        return mqtt.publish("devices/" + id + "/command", wanted).map(result -> result.matches());
    }
    // end
}
