// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.time.Duration;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Test;

class TcpOptionsTest {

    private static final TcpOptions OPTIONS =
            new TcpOptions(Duration.ofSeconds(70), Duration.ofSeconds(11), 3, Duration.ofMillis(12_345));

    @Test
    void theOptionsOfAChannelOnEpoll() {
        assertThat(Epoll.isAvailable()).isTrue();
        Channel channel = new EpollSocketChannel();
        try {
            OPTIONS.set(channel);

            assertThat(channel.config().getOption(EpollChannelOption.TCP_KEEPIDLE))
                    .isEqualTo(70);
            assertThat(channel.config().getOption(EpollChannelOption.TCP_KEEPINTVL))
                    .isEqualTo(11);
            assertThat(channel.config().getOption(EpollChannelOption.TCP_KEEPCNT))
                    .isEqualTo(3);
            assertThat(channel.config().getOption(EpollChannelOption.TCP_USER_TIMEOUT))
                    .isEqualTo(12_345);
        } finally {
            channel.unsafe().closeForcibly();
        }
    }

    @Test
    void theOptionsOfAChannelOnNio() {
        Channel channel = new NioSocketChannel();
        try {
            OPTIONS.set(channel);

            assertThat(channel.config().getOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE)))
                    .isEqualTo(70);
            assertThat(channel.config().getOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL)))
                    .isEqualTo(11);
            assertThat(channel.config().getOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT)))
                    .isEqualTo(3);
        } finally {
            channel.unsafe().closeForcibly();
        }
    }

    @Test
    void zeroLeavesTheSettingOfTheOperatingSystem() {
        Channel channel = new NioSocketChannel();
        try {
            Integer before = channel.config().getOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE));
            new TcpOptions(Duration.ZERO, Duration.ZERO, 0, Duration.ZERO).set(channel);

            assertThat(channel.config().getOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE)))
                    .isEqualTo(before);
        } finally {
            channel.unsafe().closeForcibly();
        }
    }
}
