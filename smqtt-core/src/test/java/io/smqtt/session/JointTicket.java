// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.JointOperation;
import io.smqtt.routing.RouteTicket;
import java.util.ArrayList;
import java.util.List;

/** The ticket of a publisher that stores a message of QoS 2 with all its receivers, and commits it when the test says so. */
final class JointTicket implements RouteTicket {

    private final List<JointOperation> operations = new ArrayList<>();

    @Override
    public void hold() {
        // only the store counts here
    }

    @Override
    public void release(boolean success) {
        // only the store counts here
    }

    @Override
    public boolean join(JointOperation operation) {
        operations.add(operation);
        return true;
    }

    void committed() {
        operations.forEach(operation -> operation.settled(true));
    }

    void failed() {
        operations.forEach(operation -> operation.settled(false));
    }
}
