#[cfg(test)] pub(crate) const HOSTILE:&str="";
