//! Where the learner computes.

use std::{fmt, str::FromStr};

use burn::tensor::Device;

/// Where burn computes: the CPU, or a GPU backend that this program was built with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// burn's pure-Rust `flex` backend, on the calling thread.
    #[default]
    Cpu,
    /// The best GPU that wgpu finds (Vulkan, Metal, DirectX).
    #[cfg(feature = "wgpu")]
    Wgpu,
    /// The first CUDA device.
    #[cfg(feature = "cuda")]
    Cuda,
}

/// Why a device name was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// No such device.
    #[error("unknown device {0:?}; expected cpu, wgpu or cuda")]
    Unknown(String),
    /// A device that exists, but that this program was built without.
    #[error("device {0} is not compiled in; build with --features {0}")]
    NotCompiledIn(String),
}

impl FromStr for DeviceChoice {
    type Err = DeviceError;

    fn from_str(name: &str) -> Result<Self, DeviceError> {
        match name {
            "cpu" => Ok(Self::Cpu),
            #[cfg(feature = "wgpu")]
            "wgpu" => Ok(Self::Wgpu),
            #[cfg(feature = "cuda")]
            "cuda" => Ok(Self::Cuda),
            _ if ["wgpu", "cuda"].contains(&name) => Err(DeviceError::NotCompiledIn(name.to_owned())),
            _ => Err(DeviceError::Unknown(name.to_owned())),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "cpu",
            #[cfg(feature = "wgpu")]
            Self::Wgpu => "wgpu",
            #[cfg(feature = "cuda")]
            Self::Cuda => "cuda",
        })
    }
}

impl From<DeviceChoice> for Device {
    fn from(choice: DeviceChoice) -> Self {
        match choice {
            DeviceChoice::Cpu => Self::flex(),
            #[cfg(feature = "wgpu")]
            DeviceChoice::Wgpu => Self::wgpu(Default::default()),
            #[cfg(feature = "cuda")]
            DeviceChoice::Cuda => Self::cuda(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_names() {
        assert_eq!("cpu".parse(), Ok(DeviceChoice::Cpu));
        assert_eq!(DeviceChoice::Cpu.to_string(), "cpu");
        assert_eq!("tpu".parse::<DeviceChoice>(), Err(DeviceError::Unknown("tpu".into())));
        #[cfg(not(feature = "cuda"))]
        assert_eq!("cuda".parse::<DeviceChoice>(), Err(DeviceError::NotCompiledIn("cuda".into())));
    }
}
