// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The client libraries of other languages. A library that is not installed fails its test. */
@ExtendWith(TestedBroker.Provider.class)
@Execution(ExecutionMode.CONCURRENT)
class ForeignClientsIT {

    private static final List<ClientLibrary> OPEN = new CopyOnWriteArrayList<>();

    @AfterAll
    static void endPrograms() throws Exception {
        for (ClientLibrary library : OPEN) {
            library.close();
        }
    }

    private static Stream<DynamicNode> scenarios(ClientLibrary library, TestedBroker broker) {
        OPEN.add(library);
        return InteropScenarios.of(library, broker);
    }

    @TestFactory
    Stream<DynamicNode> pahoPythonSpeaksEveryVersion(TestedBroker broker) {
        return scenarios(ForeignLibrary.python(), broker);
    }

    @TestFactory
    Stream<DynamicNode> mqttJsSpeaksEveryVersion(TestedBroker broker) {
        return scenarios(ForeignLibrary.node(), broker);
    }

    @TestFactory
    Stream<DynamicNode> pahoGolangSpeaksMqtt5(TestedBroker broker) {
        return scenarios(ForeignLibrary.go(), broker);
    }
}
