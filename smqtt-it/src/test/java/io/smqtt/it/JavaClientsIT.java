// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The client libraries that run in this JVM. */
@ExtendWith(TestedBroker.Provider.class)
@Execution(ExecutionMode.CONCURRENT)
class JavaClientsIT {

    @TestFactory
    Stream<DynamicNode> hiveMqSpeaksMqtt311(TestedBroker broker) { // [MQTT311-7.0.0-2]
        return InteropScenarios.of(new HiveMq3(), broker);
    }

    @TestFactory
    Stream<DynamicNode> hiveMqSpeaksMqtt5(TestedBroker broker) {
        return InteropScenarios.of(new HiveMq5(), broker);
    }

    @TestFactory
    Stream<DynamicNode> pahoSpeaksMqtt31And311(TestedBroker broker) {
        return InteropScenarios.of(new Paho3(), broker);
    }

    @TestFactory
    Stream<DynamicNode> pahoSpeaksMqtt5(TestedBroker broker) {
        return InteropScenarios.of(new Paho5(), broker);
    }
}
