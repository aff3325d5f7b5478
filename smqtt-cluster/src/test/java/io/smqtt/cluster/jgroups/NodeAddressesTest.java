// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.Map;
import org.jgroups.protocols.dns.DNSResolver.DNSRecordType;
import org.jgroups.stack.IpAddress;
import org.junit.jupiter.api.Test;

class NodeAddressesTest {

    private final Map<String, InetAddress[]> names = new HashMap<>();
    private final NodeAddresses addresses = new NodeAddresses(name -> {
        InetAddress[] found = names.get(name);
        if (found == null) {
            throw new UnknownHostException(name);
        }
        return found;
    });

    private void name(String name, String... found) throws UnknownHostException {
        InetAddress[] all = new InetAddress[found.length];
        for (int i = 0; i < all.length; i++) {
            all[i] = InetAddress.getByName(found[i]);
        }
        names.put(name, all);
    }

    @Test
    void namesAreLookedUpAgain() throws Exception {
        name("10.0.0.1", "10.0.0.1");
        assertThat(addresses.resolveIps("10.0.0.1:7801,b.nodes:7802", DNSRecordType.SRV))
                .containsExactly(new IpAddress("10.0.0.1", 7801));

        name("b.nodes", "10.0.0.2");
        assertThat(addresses.resolveIps("10.0.0.1:7801,b.nodes:7802", DNSRecordType.SRV))
                .containsExactly(new IpAddress("10.0.0.1", 7801), new IpAddress("10.0.0.2", 7802));

        name("b.nodes", "10.0.0.3");
        assertThat(addresses.resolveIps("b.nodes:7802", DNSRecordType.SRV))
                .containsExactly(new IpAddress("10.0.0.3", 7802));
    }

    @Test
    void aNameOfThisMachineIsBoundTo() throws Exception {
        name("a.nodes", "192.0.2.1", "127.0.0.1");
        assertThat(addresses.own("a.nodes:7801", "10.0.0.1:7800").getHostAddress())
                .isEqualTo("127.0.0.1");
        assertThat(addresses.own("192.0.2.7:7801", "10.0.0.1:7800").getHostAddress())
                .isEqualTo("192.0.2.7");
        assertThat(addresses.own("[::1]:7801", "10.0.0.1:7800").getHostAddress())
                .isEqualTo("0:0:0:0:0:0:0:1");
    }

    @Test
    void beforeItsNameIsKnownTheAddressOfTheClusterIsBoundTo() throws Exception {
        name("10.0.0.1", "10.0.0.1");
        assertThat(addresses.own("a.nodes:7801", "10.0.0.1:7800").getHostAddress())
                .isEqualTo("10.0.0.1");

        name("a.nodes", "192.0.2.1"); // that of the predecessor
        assertThat(addresses.own("a.nodes:7801", "10.0.0.1:7800").getHostAddress())
                .isEqualTo("10.0.0.1");

        assertThatThrownBy(() -> addresses.own("b.nodes:7801", "nowhere:7800"))
                .isInstanceOf(UnknownHostException.class)
                .hasMessageContaining("nowhere");
    }
}
