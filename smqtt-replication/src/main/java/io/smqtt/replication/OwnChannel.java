// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The channel of one member alone. */
final class OwnChannel implements ReplicaLink {

    private volatile @Nullable GroupChannel channel;

    void use(GroupChannel made) {
        channel = made;
    }

    @Override
    public void leave() {
        GroupChannel open = channel;
        if (open != null) {
            open.leave();
        }
    }

    @Override
    public void close() throws IOException {
        GroupChannel open = channel;
        if (open != null) {
            open.close();
        }
    }
}
