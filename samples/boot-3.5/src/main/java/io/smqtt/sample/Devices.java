// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sample;

import io.smqtt.PublishResult;
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

/** What the devices say by MQTT is shown by HTTP, and commands go the other way. */
@RestController
class Devices {

    record State(String color, int level) {}

    private final Map<String, State> states = new ConcurrentHashMap<>();
    private final MqttTemplate mqtt;

    Devices(MqttTemplate mqtt) {
        this.mqtt = mqtt;
    }

    @MqttListener(filter = "devices/{id}/state", qos = 1)
    void stateOf(@TopicVariable String id, State state) {
        states.put(id, state);
    }

    @GetMapping("/devices")
    Map<String, State> all() {
        return states;
    }

    @PostMapping("/devices/{id}/command")
    int command(@PathVariable String id, @RequestBody State wanted) {
        PublishResult result =
                mqtt.publish("devices/" + id + "/command", wanted).block();
        return result.matches();
    }
}
