// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import java.io.DataInput;
import org.jgroups.Address;
import org.jgroups.Message;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.FD_SOCK2;
import org.jgroups.util.ByteArray;
import org.jgroups.util.ByteArrayDataInputStream;

/**
 * Notices by a second port that a process has died, and takes there what {@link WireMessages} takes. Made by the channel,
 * which needs it public; not for anybody else. Any thread.
 */
public final class PlainFailurePort extends FD_SOCK2 {

    /** Creates a protocol that says and understands what that of the channel does. */
    public PlainFailurePort() {
        setId(ClassConfigurator.getProtocolId(FD_SOCK2.class));
    }

    @Override
    public void receive(Address sender, DataInput in, int length) throws Exception {
        Message checked = WireMessages.read(Message.EMPTY_MSG, in);
        ByteArray bytes = messageToBuffer(checked);
        super.receive(
                sender,
                new ByteArrayDataInputStream(bytes.getArray(), bytes.getOffset(), bytes.getLength()),
                bytes.getLength());
    }
}
