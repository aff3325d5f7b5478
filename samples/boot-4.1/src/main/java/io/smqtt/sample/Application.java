// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sample;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** A web application with an MQTT broker in it. */
@SpringBootApplication
public class Application {

    /**
     * Starts it.
     *
     * @param args properties, such as {@code --smqtt.listeners.tcp.port=1884}
     */
    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }
}
