// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.routing.RouteTicket;
import java.util.function.Consumer;

/** Waits until a message that was parked for another node is parked again, for the one that serves its sessions. */
@OnClusterLoop
final class Inheritance implements RouteTicket {

    private final Consumer<Boolean> taken;

    Inheritance(Consumer<Boolean> taken) {
        this.taken = taken;
    }

    @Override
    public void hold() {
        // for one message
    }

    @Override
    public void release(boolean success) {
        taken.accept(success);
    }

    @Override
    public boolean wantsStable() {
        return true;
    }

    @Override
    public boolean waitsForRoom() {
        return true; // it is tried again
    }
}
