// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BindFailedExceptionTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bind(..) failed with error(-98): Address already in use | port 1883 on 10.0.0.1 is already in use",
                "bind(..) failed with error(-98)   | port 1883 on 10.0.0.1 is already in use",
                "Address already in use            | port 1883 on 10.0.0.1 is already in use",
                "bind(..) failed with error(-13)   | may not use port 1883 on 10.0.0.1; ports below 1024",
                "Permission denied                 | may not use port 1883 on 10.0.0.1; ports below 1024",
                "bind(..) failed with error(-99)   | no network interface of this machine has the address 10.0.0.1",
                "Cannot assign requested address   | no network interface of this machine has the address 10.0.0.1",
                "bind(..) failed with error(-97)   | does not support the kind of address",
                "Address already in use (port 2)   | is already in use (port 2)",
                "something else                    | 10.0.0.1:1883: something else",
            })
    void numbersOfTheOperatingSystemBecomeWords(String said, String words) {
        assertThat(new BindFailedException("tcp", "10.0.0.1:1883", new IOException(said)))
                .hasMessageStartingWith("listener tcp cannot be bound: ")
                .hasMessageContaining(words)
                .extracting(Throwable::getMessage)
                .asString()
                .doesNotContain("error(");
    }

    @Test
    void aHostThatThereIsNotIsNamed() {
        assertThat(new BindFailedException("tcp", "nowhere:1883", new UnknownHostException("nowhere")))
                .hasMessage("listener tcp cannot be bound: there is no host nowhere");
    }
}
