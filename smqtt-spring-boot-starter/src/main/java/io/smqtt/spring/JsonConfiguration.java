// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** JSON by the mapper of the application: Jackson 3 where it is, as in Spring Boot 4, or Jackson 2. */
final class JsonConfiguration {

    private JsonConfiguration() {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "tools.jackson.databind.json.JsonMapper")
    static class Jackson3 {

        @Bean
        @ConditionalOnMissingBean
        PayloadConverter smqttPayloadConverter(ObjectProvider<tools.jackson.databind.json.JsonMapper> mappers) {
            tools.jackson.databind.json.JsonMapper mapper = mappers.getIfAvailable(
                    () -> tools.jackson.databind.json.JsonMapper.builder().build());
            return new PayloadConverter() {
                @Override
                public @Nullable Object read(byte[] payload, Type type) {
                    return mapper.readValue(payload, mapper.constructType(type));
                }

                @Override
                public byte[] write(Object value) {
                    return mapper.writeValueAsBytes(value);
                }
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "com.fasterxml.jackson.databind.ObjectMapper")
    static class Jackson2 {

        @Bean
        @ConditionalOnMissingBean
        PayloadConverter smqttPayloadConverter(ObjectProvider<com.fasterxml.jackson.databind.ObjectMapper> mappers) {
            return new Jackson2Payloads(mappers.getIfAvailable(com.fasterxml.jackson.databind.ObjectMapper::new));
        }
    }
}
