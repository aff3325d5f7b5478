// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;

/** The server of a sink whose disk is full instead of being killed, so that the sink fails, and which is started again if it has ended of that. */
final class FilledDisk implements SinkCampaign.Server {

    private final SmallDisk disk;
    private final Revival revival;

    /** Starts a server again, if it has ended. */
    interface Revival {
        void run() throws IOException;
    }

    FilledDisk(SmallDisk disk, Revival revival) {
        this.disk = disk;
        this.revival = revival;
    }

    @Override
    public void kill() throws IOException {
        disk.fill();
    }

    @Override
    public boolean isMissed() {
        return true;
    }

    @Override
    public void start() throws IOException {
        disk.free();
        revival.run();
    }
}
